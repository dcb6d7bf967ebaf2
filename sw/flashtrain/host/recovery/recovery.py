"""Recovery of the content that non-volatile streams had when the power failed, from the flash alone.

Result
------
- Every acknowledged append to a non-volatile stream is kept. Pages of other appends may be kept, too. A page
  whose program was interrupted holds only some of its zeros. If the code cannot correct it, or if the
  identity is affected, the page counts as missing, and a read of it is a media error. Without a code, a page
  with a whole identity and spoilt data looks like a whole page: it may be the last one of any block.
- Generations, commits, resets, pins and notes are kept if the node has a journal (`journal`). Updates without
  a record of their commit are dropped. Without a journal the newest generation of a stream is kept, and no
  updates.
- Ages are upper bounds, from the allocation times in the journal. Without a journal, or without a record in
  it, data date from time 0: their age is unknown.
- Erase counts are exact for physical zones with content. Other zones get the highest of these counts, since
  the least worn zone is allocated first, or the journal's count if that is higher. Each recovery and each
  `Device.shutdown` records the counts.
- Zones out of service are read-only or offline again, with their content, if the driver has recorded them.
  No reset of their stream has emptied them. Without a journal they are in service again.
- Without a clean record it is unknown how far a zone was written: its last pages may be lost. A zone that is
  not full of pages is then unsure (`flashtrain.spec.nvme`): reads behind its last page are media errors.
- With a clean record a page that is missing below the recorded pointer is a media error. A zone with a block
  whose last page is missing is full, since the block's next page would be programmed out of order.

Volatile streams, and the fact that a zone was finished, are lost. Without a journal pins are lost, too. After
a loss of power, a zone that was not full takes no more appends, since pages past its last one may be half
programmed; the zoned command set lets a controller finish zones. After `Device.shutdown` such a zone takes
appends.

Procedure
---------
1. The controller is enabled empty, and accepts only INSPECT and RESTORE (`flashtrain.spec.identity`).
2. The first pages of all physical zones name their logical zones; the journal shows which of these are stale.
3. Spare blocks name their zones as well (`ownership`). Spares of kept zones are put in their places before
   any other page of these zones is read.
4. The write pointer of each kept zone is found.
5. Blocks with a factory mark (`marks`) get spares before any erase. A physical zone with a marked block and
   no spare for it is not used, unless it is kept.
6. Kept zones are restored in place; other physical zones, and spares with other content, are erased.
7. A record of the result is appended to the journal. A recovery right afterwards finds the same content.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from flashtrain.host.errors import ForeignContent
from flashtrain.host.queues.dispatcher import Dispatcher, Request
from flashtrain.host.queues.entries import Command
from flashtrain.host.queues.pending import Pending
from flashtrain.host.streams.zone_info import ZoneInfo
from flashtrain.spec import Access, NodeTable, Opcode, Port, Stream, ZoneState
from flashtrain.spec.identity import MOST_WEAR, RestoreAction
from flashtrain.spec.nvme import GenerationAction

from .allocation_times import Moment, time_of
from .inspection import Inspector
from .journal import Journal, is_recorded
from .journal_record import Record, StreamEntry
from .marks import BadBlock, Block, MarkReader
from .ownership import OwnershipReader, OwnershipRecord, newest
from .record_reader import RecordReader
from .write_pointers import PointerReader


@dataclass(frozen=True)
class RecoveredStream:
    """A recovered non-volatile stream.

    zones: the zones with content; blocks: the sum of their blocks, each zone's up to its last written one.
    """

    name: str
    generation: int
    zones: int
    blocks: int


@dataclass(frozen=True)
class RecoveryReport:
    """The result of a recovery.

    - streams: the recovered streams.
    - erased: the number of physical zones that were not kept.
    - records: the number of journal records that were read.
    - clean: the device was shut down by `Device.shutdown`.
    - cycles: the simulated cycles of the recovery.
    - spares: the number of spare blocks with pages of kept zones.
    - retired: the number of zones out of service.
    - bad: the blocks with a factory mark.
    - kept: the physical zones that were kept, each with its blocks up to the last written one.
    - record: the journal's newest record; None without one.
    - zones: the zones of each stream, by NSID, before anything was appended to the journal.
    """

    streams: tuple[RecoveredStream, ...]
    erased: int
    records: int
    clean: bool
    cycles: int
    spares: int = 0
    retired: int = 0
    bad: tuple[BadBlock, ...] = ()
    kept: dict[OwnershipRecord, int] = field(default_factory=dict, repr=False)
    record: Record | None = field(default=None, repr=False)
    zones: dict[int, list[ZoneInfo]] = field(default_factory=dict, repr=False)

    def stream(self, name: str) -> RecoveredStream:
        return next(stream for stream in self.streams if stream.name == name)


class _Found(NamedTuple):
    """The newest journal record.

    - owner: the physical zone of the journal that holds it.
    - last: nothing was appended to the journal after it.
    - end: the block after it, where the next record goes; None: that zone takes no more.
    - read: the number of records that were read.
    """

    record: Record | None
    owner: OwnershipRecord | None
    last: bool
    end: int | None
    read: int


class Recovery:
    """One recovery of the device behind `dispatcher`, whose controller is enabled for it.

    - raw: selects whether INSPECT returns pages as the cells hold them.
    - bad: the marked blocks that were found.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        node: NodeTable,
        zones: dict[int, range],
        journal: Journal | None,
        raw: Callable[[bool], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._node = node
        self._zones = zones
        self._journal = journal
        self._geometry = dispatcher.link.config.geometry
        self._inspector = Inspector(dispatcher, node.streams[0].nsid)
        marks = MarkReader(self._inspector, dispatcher.link.config, raw)
        self._ownership = OwnershipReader(self._inspector, self._geometry, marks)
        self._pointers = PointerReader(self._inspector, self._geometry)
        self._restored: dict[int, ZoneInfo] = {}
        self._spares: set[Block] = set()  # in use for what was kept
        self._placed: dict[Block, int] = {}  # and where they are
        self._unused: set[int] = set()  # physical zones that take no appends
        self.bad: tuple[BadBlock, ...] = ()

    def run(self) -> RecoveryReport:
        """Restore the content of the flash, and end the recovery."""
        start = self._dispatcher.link.cycles
        owners = self._ownership.owners()
        for owner in owners:
            self._check(owner)
        found = self._find_record(owners)
        entries = self._entries(owners, found.record)
        kept = self._kept(owners, entries, found.record)
        self._use_spares(kept)
        record = replace(Record(0), streams=entries) if found.record is None else found.record
        clean = record.clean and found.last
        lost = self._lost(owners, record) if clean else []
        owners, kept = owners + lost, kept + lost
        pointers = self._restored_zones(kept, record, clean)
        self._replace_marked({owner.physical for owner in kept})
        wear = self._wear(owners, record)
        sequence = 1 + max((*record.floors, *(owner.sequence for owner in owners)), default=-1)
        self._restore(entries, pointers, wear, record.moments, sequence)
        self._retire(record.retired)
        self._pin(entries)
        zones = {nsid: self.zones(nsid) for nsid in self._zones}
        if self._journal is not None:
            self._go_on(self._journal, replace(record, streams=entries), found, kept, wear, sequence)
        return RecoveryReport(
            tuple(
                self._recovered(stream, entries[stream.nsid], pointers)
                for stream in self._node.streams
                if stream.nsid in entries and stream is not self._node.journal
            ),
            self._geometry.zones - len(kept) - len(self._unused), found.read, clean,
            self._dispatcher.link.cycles - start, len(self._spares), len(record.retired), self.bad,
            pointers, found.record, zones,
        )  # fmt: skip

    def forget(self) -> int:
        """Keep nothing, and erase everything; returns the lowest sequence number of later allocations.

        Blocks whose erase fails keep their content. Later sequence numbers are above theirs, so recovery
        cannot mistake that content for new content.
        """
        owners = self._ownership.owners()
        sequence = 1 + max((owner.sequence for owner in owners), default=-1)
        self._replace_marked(set())
        # Spares are erased behind all zones.
        wear = self._wear(owners, Record(0)) + [MOST_WEAR] * self._geometry.spare_blocks
        self._release((block, erases) for block, erases in enumerate(wear) if block not in self._unused)
        self._submit([self._end(sequence)])
        return sequence

    def zones(self, nsid: int) -> list[ZoneInfo]:
        """The zones of a stream after the recovery."""
        g = self._geometry
        return [
            self._restored.get(zone)
            or ZoneInfo(number * g.zone_size, ZoneState.EMPTY, g.zone_capacity, number * g.zone_size)
            for number, zone in enumerate(self._zones[nsid])
        ]

    # Decisions.

    def _check(self, owner: OwnershipRecord) -> None:
        if owner.zone not in self._zones.get(owner.nsid, ()):
            own = {stream.name: self._zones[stream.nsid] for stream in self._node.streams}
            raise ForeignContent(
                f"physical zone {owner.physical} is zone {owner.zone} of namespace {owner.nsid}; "
                f"node {self._node.name!r} has {own}"
            )

    def _find_record(self, owners: list[OwnershipRecord]) -> _Found:
        """The newest record: the last one in the journal's newer zone, or if that has none, in the older."""
        journal = self._node.journal
        if journal is None:
            return _Found(None, None, False, None, 0)
        own = newest(owner for owner in owners if owner.nsid == journal.nsid).values()
        by_age = sorted(own, key=lambda owner: owner.sequence, reverse=True)
        self._use_spares(by_age)
        pointers = self._pointers.pointers(by_age)
        reader = RecordReader(self._inspector, self._dispatcher.link.config)
        for owner in by_age:
            found = reader.last(owner, pointers[owner])
            if found is None:
                continue
            record, end = found
            last = owner is by_age[0] and end == pointers[owner]
            goes_on = last and record.clean and end == record.pointers[owner.zone]
            return _Found(record, owner, last, end if goes_on else None, reader.records)
        return _Found(None, by_age[0] if by_age else None, False, None, reader.records)

    def _entries(self, owners: list[OwnershipRecord], record: Record | None) -> dict[int, StreamEntry]:
        """Generations by NSID of the non-volatile streams."""
        entries = {}
        for stream in self._node.streams:
            if is_recorded(self._node, stream):
                entries[stream.nsid] = StreamEntry() if record is None else record.stream(stream.nsid)
            elif stream.persistency:
                own = [owner for owner in owners if owner.nsid == stream.nsid]
                last = max(own, key=lambda owner: owner.sequence, default=None)
                entries[stream.nsid] = StreamEntry(0 if last is None else last.generation)
        return entries

    def _kept(
        self, owners: list[OwnershipRecord], entries: dict[int, StreamEntry], record: Record | None
    ) -> list[OwnershipRecord]:
        floors, retired = ((), {}) if record is None else (record.floors, record.retired)
        return list(
            newest(
                replace(owner, updates=owner.zone in retired or bool(entry.commit))
                for owner in owners
                if (entry := entries.get(owner.nsid)) is not None
                and (owner.zone in retired or owner.generation == entry.generation)
                and (owner.zone in retired or not owner.updates or entry.commit)
                and (not floors or owner.sequence >= floors[owner.zone])
            ).values()
        )

    def _lost(self, owners: list[OwnershipRecord], record: Record) -> list[OwnershipRecord]:
        """The zones with blocks by a clean record but without any page, each on a physical zone without one.

        Their reads are media errors. A zone with pages that are not kept (uncommitted updates) is empty.
        """
        unknown = set(range(self._geometry.zones)) - {owner.physical for owner in owners}
        free = sorted(unknown - {block for block, _ in self._ownership.marked})
        nsids = {zone: nsid for nsid, zones in self._zones.items() for zone in zones}
        generations = {zone: record.stream(nsid).generation for zone, nsid in nsids.items()}
        with_pages = {
            owner.zone
            for owner in owners
            if owner.sequence >= record.floors[owner.zone]
            and (owner.zone in record.retired or owner.generation == generations[owner.zone])
        }
        wear = self._wear(owners, record)
        lost = (zone for zone, blocks in enumerate(record.pointers) if blocks and zone not in with_pages)
        return [
            OwnershipRecord(
                physical, nsids[zone], zone, generations[zone], record.floors[zone], wear[physical],
                updates=False,
            )
            for zone, physical in zip(lost, free, strict=False)
        ]  # fmt: skip

    def _restored_zones(
        self, kept: list[OwnershipRecord], record: Record, clean: bool
    ) -> dict[OwnershipRecord, int]:
        """The write pointers of the kept zones; `_restored` has what else is known about them."""
        capacity = self._geometry.zone_capacity
        recorded = {owner: record.pointers[owner.zone] if clean else 0 for owner in kept}
        found = self._pointers.pointers(kept, lambda owner: recorded[owner])
        marked = {block for block, _ in self._ownership.marked}
        in_service = {
            owner: pointer
            for owner, pointer in found.items()
            if pointer == recorded[owner] < capacity
            and owner.zone not in record.full | record.retired.keys()
            and (owner.whole or not (record.replaced or owner.physical in marked))
        }
        go_on = self._pointers.go_on(in_service)
        pointers = {owner: max(pointer, recorded[owner]) for owner, pointer in found.items()}
        for owner, pointer in pointers.items():
            start = (owner.zone - self._zones[owner.nsid].start) * self._geometry.zone_size
            state = record.retired.get(owner.zone, ZoneState.CLOSED if owner in go_on else ZoneState.FULL)
            self._restored[owner.zone] = ZoneInfo(
                start, state, capacity, start + pointer if state is ZoneState.CLOSED else None,
                written=pointer, sequence=owner.sequence,
                unsure=pointer != recorded[owner] and pointer < capacity,
            )  # fmt: skip
        return pointers

    def _wear(self, owners: list[OwnershipRecord], record: Record) -> list[int]:
        # A zone that was free at an allocation had at least as many erases as the allocated one.
        least = max((owner.wear for owner in owners), default=0)
        known = [max(wear, least) for wear in record.wear or [0] * self._geometry.zones]
        for owner in owners:
            known[owner.physical] = owner.wear
        return known

    # Commands.

    def _use_spares(self, owners: Iterable[OwnershipRecord]) -> None:
        """Put the spares of these owners in their places, before any other page of their zones is read."""
        spares = {spare: owner for owner in owners for spare in owner.spares if spare not in self._spares}
        self._spares.update(spares)
        self._placed.update({(owner.physical, column): block for (block, column), owner in spares.items()})
        self._submit(
            self._block((owner.physical, column), block) for (block, column), owner in spares.items()
        )

    def _replace_marked(self, kept: set[int]) -> None:
        """Put spares in the places of marked blocks, before any erase.

        Kept zones come first, since they will be erased later, too. A marked spare takes its own place, so
        that it is in use and replaces no other block.
        """
        g, marked = self._geometry, self._ownership.marked
        taken = self._spares | {(block, column) for block, column in marked if block in g.spares}
        orders = [self._block((block, column), block) for block, column in marked if block in g.spares]
        replacements = dict(self._placed)
        for place in sorted(marked, key=lambda place: (place[0] not in kept, place)):
            zone, column = place
            if zone in g.spares or place in replacements:
                continue
            left = (one for one in self._ownership.unwritten_first(column) if (one, column) not in taken)
            if (spare := next(left, None)) is not None:
                replacements[place] = spare
                taken.add((spare, column))
                orders.append(self._block(place, spare))
            elif zone not in kept:
                self._unused.add(zone)
        self._submit(orders)
        self.bad = tuple(
            BadBlock(where.channel, where.die, where.plane, block, replacements.get((block, column)))
            for block, column in marked
            for where in (g.place(column),)
        )

    def _block(self, place: Block, spare: int) -> Command:
        """The command that puts a spare in a place of a physical zone, or of a spare."""
        g, (physical, column) = self._geometry, place
        where = g.place(column)
        return Command(
            Opcode.RESTORE,
            self._node.streams[0].nsid,
            action=RestoreAction.BLOCK,
            physical=physical,
            channel=where.channel,
            die=where.die,
            plane=where.plane,
            spare=spare - g.zones,
        )

    def _restore(
        self,
        entries: dict[int, StreamEntry],
        pointers: dict[OwnershipRecord, int],
        wear: list[int],
        moments: tuple[Moment, ...],
        sequence: int,
    ) -> None:
        restore = Opcode.RESTORE
        kept = {owner.physical: owner for owner in pointers}
        self._submit(
            Command(restore, nsid, action=RestoreAction.STREAM, generation=entry.generation)
            for nsid, entry in entries.items()
        )
        self._submit(
            Command(
                restore,
                owner.nsid,
                self._restored[owner.zone].start + pointer,
                action=RestoreAction.ZONE,
                restored_state=self._restored[owner.zone].state,
                unsure=self._restored[owner.zone].unsure,
                physical=owner.physical,
                sequence=owner.sequence,
                generation=owner.generation,
                wear=owner.wear,
                time=time_of(moments, owner.sequence),
            )
            for owner, pointer in pointers.items()
        )
        stay = kept.keys() | self._unused
        self._release((zone, wear[zone]) for zone in range(self._geometry.zones) if zone not in stay)
        # Other content of spares would reappear at a later recovery.
        self._release((block, MOST_WEAR) for block in self._ownership.written_spares(self._spares))
        self._submit([self._end(sequence)])

    def _retire(self, zones: dict[int, ZoneState]) -> None:
        """Take those of these logical zones that are empty out of service, if a port has the right to.

        The recovery has ended.
        """
        for stream in self._node.streams:
            own = self._zones[stream.nsid]
            able = [port for port in Port if Access.APPEND in stream.access(port)]
            empty = zones.keys() & set(own) - self._restored.keys()
            for zone in sorted(empty) if able else ():
                info, state = self.zones(stream.nsid)[zone - own.start], zones[zone]
                self._submit([Command(Opcode.ZONE_RETIRE, stream.nsid, info.start, action=state)], able[0])
                self._restored[zone] = replace(info, state=state, write_pointer=None)

    def _pin(self, entries: dict[int, StreamEntry]) -> None:
        """Pin the streams again that were pinned; the recovery has ended."""
        for stream in self._node.streams:
            able = [port for port in Port if Access.APPEND in stream.access(port)]
            if stream.nsid in entries and entries[stream.nsid].pinned and able:
                command = Command(Opcode.GENERATION, stream.nsid, action=GenerationAction.PIN)
                self._submit([command], able[0])

    def _release(self, zones: Iterable[tuple[int, int]]) -> None:
        """Release these physical zones and spares, each with its erase count; the controller erases them."""
        nsid = self._node.streams[0].nsid
        self._submit(
            Command(Opcode.RESTORE, nsid, action=RestoreAction.PHYSICAL, physical=zone, wear=wear)
            for zone, wear in zones
        )

    def _end(self, sequence: int) -> Command:
        nsid = self._node.streams[0].nsid
        return Command(Opcode.RESTORE, nsid, action=RestoreAction.END, sequence=sequence)

    def _submit(self, commands: Iterable[Command], port: Port = Port.HOST) -> None:
        """Submit commands, and wait for all of them."""
        requests = [Request(port, command) for command in commands]
        self._dispatcher.submit(requests)
        Pending(self._dispatcher, requests, "all", lambda _: None).result()

    def _go_on(
        self,
        journal: Journal,
        record: Record,
        found: _Found,
        kept: list[OwnershipRecord],
        wear: list[int],
        sequence: int,
    ) -> None:
        """Append a record of the kept zones to the journal; all other content is stale from now on."""
        floors = [sequence] * self._geometry.zones
        for owner in kept:
            floors[owner.zone] = owner.sequence
        now = Record(record.number, record.streams, tuple(floors), tuple(wear))
        now = replace(now, moments=record.moments, copy=record.copy, retired=record.retired)
        if found.owner is None:
            journal.start(now)
        else:
            info = self._restored.get(found.owner.zone)
            goes_on = info is not None and info.state is ZoneState.CLOSED
            zone = found.owner.zone - self._zones[found.owner.nsid].start
            journal.start(now, zone, found.end if goes_on else None)
        journal.write()

    def _recovered(
        self, stream: Stream, entry: StreamEntry, pointers: dict[OwnershipRecord, int]
    ) -> RecoveredStream:
        blocks = [pointer for owner, pointer in pointers.items() if owner.nsid == stream.nsid]
        return RecoveredStream(stream.name, entry.generation, len(blocks), sum(blocks))
