"""Executor of commands on the streams' content."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.compiled.codec import decode, encode
from flashtrain.spec import Completion, FmsConfig, Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec.geometry import Place
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import RETIRED, GenerationAction, ReportFilter
from flashtrain.spec.registers import Counter
from flashtrain.spec.streams import Codec
from flashtrain.spec.update_time import TileWork

from .checks import Checker
from .content import StreamContent
from .dies import Dies
from .flash import Flash
from .physical import PhysicalZones
from .report import zone_report
from .storage import Storage
from .streams import StreamSettings
from .submission_entry import SubmissionEntry, parse
from .zones import StreamZones, Zone

BATCH_BYTES = 1 << 19
"""State of the rows of tiles that are updated at a time."""


class Answer(NamedTuple):
    """The content of a completion."""

    cid: int
    status: Status
    result: int


class Executor:
    """All streams since the controller was enabled, at first empty; `counters` has those that need no time.

    - recover: keep the content of `flash`, and accept only commands of recovery while `recovering` is true.
    - now: the time in seconds.
    - raw: whether INSPECT returns pages as the cells hold them.
    """

    def __init__(
        self,
        config: FmsConfig,
        streams: dict[int, StreamSettings],
        memory: NDArray[np.uint8],
        memory_bytes: int,
        flash: Flash | None = None,
        recover: bool = False,
        now: Callable[[], int] = lambda: 0,
        raw: Callable[[], bool] = lambda: False,
    ) -> None:
        self._config = config
        self._streams = streams
        self.recovering = recover
        self._raw = raw
        self.physical = PhysicalZones(
            Flash(config.geometry, config.randomizer) if flash is None else flash, keep=recover
        )
        self._memory = memory
        self._checker = Checker(config, streams, memory_bytes)
        self._page_bytes = config.geometry.page_bytes
        self._zone_size = config.geometry.zone_size
        self._contents = {
            nsid: StreamContent(
                StreamZones(
                    config, stream, now, lambda: self.physical.sequence, lambda: self.physical.exhausted
                ),
                Storage(nsid, stream.first, self.physical),
            )
            for nsid, stream in streams.items()
        }
        self._dies = Dies(config)
        self.counters = [0] * len(Counter)

    def generation(self, nsid: int) -> int:
        return self._contents[nsid].generation if nsid in self._contents else 0

    def pinned(self, nsid: int) -> bool:
        return nsid in self._contents and self._contents[nsid].pinned

    @property
    def tile_work(self) -> TileWork | None:
        """A tile's; None before SET_CONSTANTS."""
        return self._dies.work

    def zones(self, nsid: int) -> tuple[Zone, ...]:
        """The zones of a valid stream, in their order."""
        return tuple(self._contents[nsid].zones.zones)

    def answer(self, port: Port, raw: bytes) -> Answer:
        """Check a 64-byte entry, and execute its command."""
        entry = parse(raw)
        status, result = self._checker.status(port, entry), 0
        if status is Status.SUCCESS:
            status, result = self._execute(entry, self._contents[entry.nsid])
        self.counters[Counter.COMMANDS] += 1
        self.counters[Counter.ERRORS] += status is not Status.SUCCESS
        return Answer(entry.cid, status, result)

    def _execute(self, entry: SubmissionEntry, content: StreamContent) -> tuple[Status, int]:
        if entry.recovers != self.recovering:
            status = Status.COMMAND_SEQUENCE_ERROR if entry.recovers else Status.NAMESPACE_NOT_READY
            return status, 0
        index, offset = divmod(entry.slba, self._zone_size)
        source = self._contents[entry.source] if entry.has_source else None
        if status := content.condition(entry, source):
            return status, 0
        match entry.opcode:
            case Opcode.READ:
                return self._read(entry, content, index, offset), 0
            case Opcode.ZONE_APPEND:
                return self._append(entry, content, index, None)
            case Opcode.WRITE:
                return self._append(entry, content, index, offset)
            case Opcode.INSPECT:
                return self._inspect(entry, index, offset), 0
            case Opcode.RESTORE:
                return self._restore(entry, content), 0
            case Opcode.ZONE_MANAGEMENT_SEND:
                return self._manage(entry, content, index), 0
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                return self._report(entry, content, index), 0
            case Opcode.ZONE_RETIRE:
                return content.zones.retire(index, ZoneState(entry.action)), 0
            case Opcode.STREAM_RESET:
                content.reset()
            case Opcode.SET_CONSTANTS:
                self._set_constants(entry)
            case Opcode.GET_STATISTICS:
                self._get_statistics(entry)
            case Opcode.UPDATE if source is not None:
                return self._update(entry, content, index, source)
            case Opcode.GENERATION:
                self._change_generation(GenerationAction(entry.action), content, source)
        return Status.SUCCESS, 0  # a flush: everything is in the flash already

    def _append(
        self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int | None
    ) -> tuple[Status, int]:
        pointer = content.zones.zones[index].written
        if self._codec(entry) is not Codec.RAW:
            return self._append_encoded(entry, content, index, pointer)
        if status := content.zones.append(index, offset, entry.blocks):
            return status, 0
        self._store(entry, content, index, pointer)
        self.counters[Counter.PAGES_APPENDED] += entry.blocks
        self.counters[Counter.APPENDS] += 1
        appended = entry.opcode == Opcode.ZONE_APPEND
        return Status.SUCCESS, index * self._zone_size + pointer if appended else 0

    def _append_encoded(
        self, entry: SubmissionEntry, content: StreamContent, index: int, pointer: int
    ) -> tuple[Status, int]:
        pages = encode(self._data(entry), self._codec(entry), self._page_bytes)
        bound = self._config.coded_bound(entry.blocks, self._codec(entry))
        if status := content.zones.append_encoded(index, len(pages), bound):
            return status, 0
        content.storage.append(index, pointer, pages, content.generation)
        self.counters[Counter.PAGES_APPENDED] += len(pages)
        self.counters[Counter.APPENDS] += 1
        return Status.SUCCESS, self._encoded_result(index, pointer, len(pages))

    def _encoded_result(self, index: int, pointer: int, stored: int) -> int:
        """The result of an append to a stream with a codec."""
        c = Completion
        lba = index * self._zone_size + pointer
        return c.result.get(c.result.put(lba) | c.stored.put(stored))

    def _read_encoded(
        self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int
    ) -> Status:
        pages = np.empty((entry.blocks, self._page_bytes), np.uint8)
        lost = int(np.count_nonzero(content.storage.read(index, offset, pages)))
        self.counters[Counter.READS] += 1
        self.counters[Counter.PAGES_READ] += entry.blocks - lost
        if lost:
            return Status.UNRECOVERED_READ_ERROR
        whole = decode(pages, self._codec(entry), self._data(entry))
        return Status.SUCCESS if whole else Status.CODED_PAGE_ERROR

    def _codec(self, entry: SubmissionEntry) -> Codec:
        """The codec of a command's data."""
        return entry.codec(self._streams[entry.nsid].codec)

    def _read(self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int) -> Status:
        if status := content.zones.read(index, offset, entry.blocks):
            return status
        if self._codec(entry) is not Codec.RAW:
            return self._read_encoded(entry, content, index, offset)
        lost = self._fetch(entry, content, index, offset)
        self.counters[Counter.PAGES_READ] += entry.blocks - lost
        self.counters[Counter.READS] += 1
        return Status.UNRECOVERED_READ_ERROR if lost else Status.SUCCESS

    def _store(self, entry: SubmissionEntry, content: StreamContent, index: int, pointer: int) -> None:
        """Program the pages of an append."""
        content.storage.append(index, pointer, self._pages(entry), content.generation)

    def _fetch(self, entry: SubmissionEntry, content: StreamContent, index: int, offset: int) -> int:
        """Move the pages of a read to the tensor buffer; the number of those that are lost."""
        if entry.reads_parts(self._config):
            page = np.empty((1, self._page_bytes), np.uint8)
            lost = int(np.count_nonzero(content.storage.read(index, offset, page)))
            if not lost:
                first = entry.first_part * self._config.part_bytes
                self._data(entry)[:] = page[0, first : first + entry.length]
            return lost
        return int(np.count_nonzero(content.storage.read(index, offset, self._pages(entry))))

    def _inspect(self, entry: SubmissionEntry, zone: int, offset: int) -> Status:
        if offset + entry.blocks > self._config.geometry.zone_capacity:
            return Status.ZONE_BOUNDARY_ERROR
        for number, target in enumerate(self._pages(entry)):
            block = self.physical.block_of(zone, offset + number)
            target[:] = self.physical.flash.inspect(block, offset + number, self._raw())
        return Status.SUCCESS

    def _restore(self, entry: SubmissionEntry, content: StreamContent) -> Status:
        match RestoreAction(entry.action):
            case RestoreAction.STREAM:
                content.generation = entry.generation
            case RestoreAction.ZONE:
                return self._restore_zone(entry, content)
            case RestoreAction.PHYSICAL:
                self.physical.use(entry.physical, entry.wear)
                self.physical.release(entry.physical)
            case RestoreAction.BLOCK:
                g = self._config.geometry
                column = g.lba(Place(0, 0, entry.die, entry.plane, entry.channel))
                self.physical.use_spare(entry.physical, column, g.zones + entry.spare)
            case RestoreAction.END:
                self.physical.sequence = entry.sequence
                self.recovering = False
        return Status.SUCCESS

    def _restore_zone(self, entry: SubmissionEntry, content: StreamContent) -> Status:
        index, last = divmod(entry.slba - 1, self._zone_size)
        state = ZoneState(entry.restored_state)
        zone = Zone(state, last + 1, entry.time, entry.sequence, entry.unsure)
        if status := content.zones.restore(index, zone):
            return status
        generation = entry.generation if state in RETIRED else content.generation
        self.physical.use(entry.physical, entry.wear)
        content.storage.restore(index, generation, entry.physical, entry.sequence, entry.wear)
        return Status.SUCCESS

    def _manage(self, entry: SubmissionEntry, content: StreamContent, index: int) -> Status:
        action = ZoneAction(entry.action)
        if entry.select_all and action is ZoneAction.RESET:
            content.reset()
            return Status.SUCCESS
        if entry.select_all:
            return content.zones.manage_all(action, entry.unsure)
        status = content.zones.manage(index, action, entry.unsure)
        content.drop_empty()
        return status

    def _set_constants(self, entry: SubmissionEntry) -> None:
        self._dies.set_constants(self._pages(entry))
        self.counters[Counter.PAGES_APPENDED] += entry.blocks

    def _get_statistics(self, entry: SubmissionEntry) -> None:
        self._pages(entry)[:] = self._dies.statistics()
        self.counters[Counter.PAGES_READ] += entry.blocks

    def _update(
        self, entry: SubmissionEntry, content: StreamContent, index: int, source: StreamContent
    ) -> tuple[Status, int]:
        g = self._config.geometry
        pointer = content.zones.zones[index].written
        page_blocks = g.channels * g.planes * g.dies
        first = entry.source_page * page_blocks + pointer % page_blocks
        zone, expired = source.zones.zones[index], source.zones.expired(index)
        if status := content.zones.update(index, entry.rows, zone, first, expired):
            return status, 0
        faults = self._update_tiles(entry, content, index, source, pointer, first)
        content.uncommitted = True
        self.counters[Counter.PAGES_APPENDED] += entry.blocks
        self.counters[Counter.PAGES_READ] += entry.rows * g.channels * entry.copies
        return (Status.WRITE_FAULT, 0) if faults else (Status.SUCCESS, index * self._zone_size + pointer)

    def _update_tiles(
        self, entry: SubmissionEntry, content: StreamContent, index: int, source: StreamContent,
        pointer: int, first: int,
    ) -> bool:  # fmt: skip
        """Step the tiles of an update, those of the source from its block `first` on, to block `pointer` on.

        Returns whether pages of the source are lost.
        """
        g = self._config.geometry
        row_blocks = g.channels * g.planes
        gradients = self._pages(entry).reshape(entry.rows, entry.pages, g.channels, g.page_bytes)
        at_once = max(1, BATCH_BYTES // (row_blocks * g.page_bytes))
        buffer = np.empty((at_once * row_blocks, g.page_bytes), np.uint8)
        faults = False
        for row in range(0, entry.rows, at_once):
            of_batch = gradients[row : row + at_once]
            start = pointer + row * row_blocks
            pages = buffer[: len(of_batch) * row_blocks]
            unread = source.storage.read(index, first + row * row_blocks, pages)
            pages[unread] = 0
            lost = unread.reshape(-1, g.planes, g.channels)
            state = pages.reshape(-1, g.planes, g.channels, g.page_bytes)
            zone = content.storage.first_zone + index
            self._dies.update(zone, start // row_blocks, state, of_batch, entry.copies)
            damaged = np.broadcast_to(lost.any(axis=1, keepdims=True), lost.shape).reshape(-1)
            content.storage.append_tiles(index, start, pages, content.generation, damaged)
            faults = faults or bool(lost.any())
        return faults

    def _change_generation(
        self, action: GenerationAction, content: StreamContent, source: StreamContent | None
    ) -> None:
        if action in (GenerationAction.PIN, GenerationAction.RELEASE):
            content.pinned = action is GenerationAction.PIN
            return
        content.uncommitted = False
        if source is None:
            return
        if not source.pinned:
            source.reset()

    def _report(self, entry: SubmissionEntry, content: StreamContent, first: int) -> Status:
        report = zone_report(
            content.zones, first, entry.report_bytes, ReportFilter(entry.report_options), entry.partial,
            self._config.geometry,
        )  # fmt: skip
        self._memory[entry.address : entry.address + len(report)] = np.frombuffer(report, np.uint8)
        return Status.SUCCESS

    def _data(self, entry: SubmissionEntry) -> NDArray[np.uint8]:
        return self._memory[entry.address : entry.address + entry.length]

    def _pages(self, entry: SubmissionEntry) -> NDArray[np.uint8]:
        return self._data(entry).reshape(entry.blocks, -1)
