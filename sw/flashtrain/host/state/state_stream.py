"""A stream of optimizer state: steps on the dies, and generations."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.controller import Controller
from flashtrain.host.memory.arrays import as_bytes
from flashtrain.host.queues.dispatcher import Request, serialised
from flashtrain.host.queues.entries import Command
from flashtrain.host.queues.pending import Pending
from flashtrain.host.recovery.journal_record import StreamEntry
from flashtrain.host.streams.recorder import Recorder
from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.stream import DeviceStream
from flashtrain.numerics import Constants, Statistics
from flashtrain.numerics.state_format import NEAREST, StepRounding
from flashtrain.spec import Opcode
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import ChannelCounter, Register, StreamRegister, stream_register
from flashtrain.spec.state_format import Rounding
from flashtrain.spec.update import Tile, UpdateHeader, UpdateStatistics

from .tiling import Pages

_OF_CONSTANTS = (Opcode.UPDATE, Opcode.GET_STATISTICS)
"""Commands whose results depend on the constants that were set last."""


@dataclass(frozen=True)
class TileStep:
    """The parameters of a step on the dies: its constants, and the layout of state, gradients and copies."""

    tile: Tile
    constants: Constants
    rounding: StepRounding = NEAREST

    def header(self, first_zone: int = 0, first_page: int = 0) -> bytes:
        """The `UpdateHeader` for a stream whose zones begin at the device's zone `first_zone`, and a
        generation that begins there at page `first_page`."""
        h = UpdateHeader
        value = (
            h.code.put(self.constants.code)
            | h.gradient_format.put(self.tile.gradient_format)
            | h.copy_format.put(self.tile.copy_format)
            | h.weight_format.put(self.tile.formats.weight)
            | h.moment_format.put(self.tile.formats.moments)
            | h.rounding.put(self.rounding.rounding)
            | h.parameters.put(self.tile.parameters)
            | h.rounding_key.put(self.rounding.key)
            | h.first_zone.put(first_zone)
            | h.first_page.put(first_page)
        )
        for field, word in zip(h.constants, self.constants.words, strict=True):
            value |= field.put(word)
        return value.to_bytes(h.BYTES, "little")


class GenerationPlace(NamedTuple):
    """A stream, and the page of its first zone from which a generation lies there, on all dies."""

    stream: "StateStream"
    page: int

    @property
    def row(self) -> int:
        """Its first row of tiles, counted from the stream's start."""
        return self.page * self.stream.dies_of_channel


class StateStream(DeviceStream):
    """A stream whose zones hold tiles, used by one port; see :class:`OptimizerState` for whole steps."""

    @property
    def row_blocks(self) -> int:
        """Blocks of state in a row of tiles."""
        return self._config.geometry.channels * self._config.geometry.planes

    @property
    def dies_of_channel(self) -> int:
        return self._config.geometry.dies

    @property
    def now(self) -> int:
        """The device's time in seconds."""
        return self._dispatcher.link.read_register(Register.TIME)

    @property
    def last_dropped(self) -> int:
        """The number of the last drop of the stream's content, with or without a reset."""
        return self._generations.last_dropped

    @property
    def pages_retried(self) -> int:
        """The number of times that the device has read pages again at another level, in all streams."""
        channels = Controller(self._dispatcher.link).channel_counters()
        return sum(counters[ChannelCounter.PAGES_RETRIED.name] for counters in channels)

    @property
    def generation(self) -> int:
        """The number of resets of the stream since the device was enabled; a recovery continues the count."""
        self._dispatcher.require_enabled()
        return self._dispatcher.link.read_register(stream_register(self.nsid, StreamRegister.GENERATION))

    @property
    def constants_sent(self) -> int:
        """How often the constants of the dies were replaced, by any stream of the device."""
        return self._dispatcher.constants_sent

    def alone(self) -> AbstractContextManager[object]:
        """The time in which no other thread uses the device."""
        return self._dispatcher.lock

    def _header(self, step: TileStep, first_page: int) -> bytes:
        if step.rounding.rounding is Rounding.NEAREST:
            return step.header()
        zones = stream_register(self.nsid, StreamRegister.ZONES)
        return step.header(self._dispatcher.link.read_register(zones) & 0xFFFF, first_page)

    @serialised
    def set_constants_async(self, step: TileStep, first_page: int = 0) -> Pending[None]:
        """Send the step of the next updates to all dies, and reset their statistics.

        The updates make a generation that begins at page `first_page` of the stream's zones. Waits for
        updates under way and their statistics, of any stream of the device.
        """
        self._dispatcher.wait(
            lambda: all(one.command.opcode not in _OF_CONSTANTS for one in self._dispatcher.in_flight)
        )
        self._dispatcher.constants_sent += 1
        page = np.zeros((self._dies, self._block_bytes), np.uint8)
        page[:, : UpdateHeader.BYTES] = np.frombuffer(self._header(step, first_page), np.uint8)
        region = self._dispatcher.region(self._dies)
        self._dispatcher.buffer.fill(region, as_bytes(page))
        command = Command(
            Opcode.SET_CONSTANTS, self.nsid, blocks=self._dies, address=region.address, length=page.nbytes
        )
        return self._command(command, region)

    @serialised
    def statistics_async(self) -> Pending[tuple[Statistics, ...]]:
        """The statistics of each die since the constants were set."""
        pages = np.zeros((self._dies, self._block_bytes), np.uint8)
        region = self._dispatcher.region(self._dies)
        command = Command(
            Opcode.GET_STATISTICS, self.nsid, blocks=self._dies, address=region.address, length=pages.nbytes
        )
        request = Request(self.port, command, region, as_bytes(pages))
        self._dispatcher.submit([request])
        return Pending(
            self._dispatcher, [request], self.name, lambda _: tuple(parse_statistics(page) for page in pages)
        )

    @serialised
    def update_async(
        self, source: "StateStream", zone: int, first_row: int, gradients: Pages, copies: Pages | None,
        copy_pages: int,
    ) -> Pending[int]:  # fmt: skip
        """Append updated tiles to `zone`, from the tiles of the same zone of `source`, row `first_row` on.

        That row is on the die of the write pointer. gradients: uint8[rows, pages, channels, page], any number
        of rows that the zone has room for. Each row returns its first `copy_pages` pages in `copies`, of the
        same shape. The result is the address of the first block.
        """
        rows, pages, channels, _ = gradients.shape
        self._space.forget()
        requests = []
        for part in self._row_parts(rows, pages * channels):
            data = as_bytes(gradients[part.start : part.stop])
            region = self._dispatcher.region(len(part) * pages * channels)
            self._dispatcher.buffer.fill(region, data)
            command = Command(
                Opcode.UPDATE, self.nsid, self._zone_start(zone), region.blocks, region.address, len(data),
                pages=pages, copies=copy_pages, rows=len(part), source=source.nsid,
                source_page=(first_row + part.start) // self.dies_of_channel,
            )  # fmt: skip
            target = None if copies is None else as_bytes(copies[part.start : part.stop])
            requests.append(Request(self.port, command, region, target))
            self._dispatcher.submit(requests[-1:])
        return Pending(self._dispatcher, requests, self.name, _first_address)

    @serialised
    def admit(self) -> None:
        """Hold an operation against the device's wear budget, before its first command."""
        self._dispatcher.admit()

    def admitted(self) -> AbstractContextManager[None]:
        """The time in which appends belong to an operation that was admitted."""
        return self._dispatcher.wear.admitted()

    @serialised
    def settle(self, pendings: Iterable[Pending[Any]]) -> None:
        """Wait until these operations are complete, successful or not."""
        pendings = list(pendings)
        self._dispatcher.wait(lambda: all(pending.answered for pending in pendings))

    @serialised
    def commit(
        self,
        source: GenerationPlace,
        updates: int = 0,
        note: bytes = b"",
        pin: bool = False,
        release: "StateStream | None" = None,
        page: int = 0,
        kept: "Collection[StateStream]" = (),
    ) -> None:
        """Make the updated tiles the current generation, and drop that of `source` unless it is pinned.

        One record of the journal has all of it: after a loss of power all of it has happened, or nothing.

        - updates: the number of updates that led to the tiles.
        - note: recorded with the generation; see :meth:`annotate`.
        - pin: pin the new generation.
        - release: a pinned stream that is released, and whose generation is dropped.
        - page: of the stream's first zone, where the generation begins.
        - kept: streams that are not reset though their generations are dropped, for others behind these.
        """
        old = source.stream
        dropped = [] if old._generations.pinned else [old]
        resets = [one for one in dropped if one not in kept]
        commands = [self._generation(GenerationAction.ADVANCE), *map(_reset, resets)]
        if resets and page >= source.page:  # so the device finds each zone written as far as the source's
            commands = [self._generation(GenerationAction.COMMIT, old.nsid)]
        if release is not None:
            commands.append(release._generation(GenerationAction.RELEASE))
            commands += [] if release in kept else [_reset(release)]
            dropped.append(release)
        if pin:
            commands.append(self._generation(GenerationAction.PIN))
        self._succeed(dropped, commands, updates, note, pin, page, kept)

    @serialised
    def supersede(
        self,
        source: "StateStream",
        updates: int,
        note: bytes = b"",
        page: int = 0,
        kept: "Collection[StateStream]" = (),
    ) -> None:
        """As :meth:`commit`, for appended tiles without an update; `source` is not pinned."""
        commands = [] if source in kept else [_reset(source)]
        self._succeed([source], commands, updates, note, False, page, kept)

    def _succeed(
        self,
        dropped: "Sequence[StateStream]",
        commands: Sequence[Command],
        updates: int,
        note: bytes,
        pin: bool,
        page: int,
        kept: "Collection[StateStream]",
    ) -> None:
        """Become the current generation by these commands, which reset those of `dropped` not in `kept`."""
        self._require_journal_of(note)
        lasting = [one for one in dropped if one._journal is not None]
        self._space.forget()
        self._change(
            self._recording,
            lambda journal: journal.commit(
                self.nsid, updates, note, pin, page,
                reset=[one.nsid for one in lasting if one not in kept],
                dropped=[one.nsid for one in lasting if one in kept],
            ),
            commands, dropped, kept,
        )  # fmt: skip
        for one in dropped:
            one._generations.pinned = False
        self._generations.pinned = pin

    def _change(
        self,
        journal: Recorder | None,
        record: Callable[[Recorder], Request],
        commands: Sequence[Command],
        dropped: "Sequence[StateStream]" = (),
        kept: "Collection[StateStream]" = (),
    ) -> None:
        """Carry out commands, of which each waits for the one before, and the first for the record.

        journal: None if the change is not recorded. dropped: streams whose content is dropped; kept: those of
        them that the commands do not reset. If the device refuses the first command, journal and handles are
        as before.
        """
        streams = (self, *dropped)
        before = {} if journal is None else {one.nsid: journal.entry(one.nsid) for one in streams}
        after = None if journal is None else record(journal)
        drops = {one: one._generations.drop() for one in dropped if one not in kept}

        def undo() -> None:
            for one, drop in drops.items():
                one._generations.undo(drop)
            for nsid, entry in before.items():
                if journal is not None:
                    journal.undo(nsid, entry)

        for one in dropped:
            one._space.forget()
        requests: list[Request] = []
        for command in commands:
            requests.append(Request(self.port, command, on_failure=None if requests else undo, after=after))
            self._dispatcher.submit(requests[-1:])
            after = requests[-1]
        if journal is not None and after is not None and not requests:
            journal.wait_for(after)
        self._finish(Pending(self._dispatcher, requests, self.name, lambda _: None))
        for one in dropped:
            if one in kept:
                one._generations.release()

    @serialised
    def advance(self) -> None:
        """Leave the updated tiles where they are, although nothing needs them; later ones follow behind."""
        self._finish(self._command(self._generation(GenerationAction.ADVANCE)))
        self._generations.release()

    @serialised
    def declare_committed(self, updates: int, note: bytes = b"", page: int = 0) -> None:
        """Record the appended tiles as committed, without an update: the result of `updates` updates.

        page: of the stream's first zone, where they begin.
        """
        self._require_journal_of(note)
        if (journal := self._recording) is not None:
            journal.wait_for(journal.commit(self.nsid, updates, note, page=page))

    def require_note(self, note: bytes, dropped: "Iterable[StateStream]") -> None:
        """:class:`NoteTooLong` or :class:`JournalMissing` unless the note can be recorded in place of those
        of `dropped`."""
        self._require_journal_of(note)
        if self._journal is not None:
            self._journal.require_room(note, {stream.nsid for stream in dropped})

    @property
    def committed(self) -> StreamEntry | None:
        """The journal's entry of the stream if its generation is committed; otherwise None."""
        entry = None if self._journal is None else self._journal.entry(self.nsid)
        return entry if entry is not None and entry.commit else None

    @serialised
    def pin(self, note: bytes | None = None) -> None:
        """Pin the stream: commands that would change its content raise :class:`StreamPinned`.

        note: recorded with the pin, in place of the present one.
        """
        self._require_journal_of(note or b"")
        self._change(
            self._recorder, lambda journal: journal.pin(self.nsid, True, note),
            [self._generation(GenerationAction.PIN)],
        )  # fmt: skip
        self._generations.pinned = True

    @serialised
    def release(self, drop: bool = False, keep: bool = False) -> None:
        """Undo :meth:`pin`.

        drop: drop the generation as well, in the same record, and reset the stream; keep: without a reset.
        """
        resets = drop and not keep
        commands = [self._generation(GenerationAction.RELEASE), *([_reset(self)] if resets else [])]

        def record(journal: Recorder) -> Request:
            if not drop:
                return journal.pin(self.nsid, False)
            return journal.reset(self.nsid) if resets else journal.drop(self.nsid)

        self._change(self._journal, record, commands, [self] if drop else [], [self] if keep else [])
        self._generations.pinned = False

    def planes_of_rows(self, first_row: int, rows: int, planes: range) -> Sequence[Extent]:
        """The extents of these planes of rows of tiles; `first_row` counts from the stream's start."""
        channels = self._config.geometry.channels
        extents = []
        for row in range(first_row, first_row + rows):
            zone, offset = divmod(row * self.row_blocks, self.zone_capacity)
            lba = self._zone_start(zone) + offset + planes.start * channels
            extents.append(Extent(lba, len(planes) * channels))
        return extents

    def _generation(self, action: GenerationAction, source: int = 0) -> Command:
        return Command(Opcode.GENERATION, self.nsid, action=action, source=source)

    def _require_journal_of(self, note: bytes) -> None:
        """:class:`JournalMissing` if there is a note, and nothing records it."""
        if note:
            self._required_journal()

    @property
    def _dies(self) -> int:
        return self._config.geometry.channels * self._config.geometry.dies

    def _row_parts(self, rows: int, blocks: int) -> list[range]:
        """The rows of each command: at most the command limit, and at most a quarter of the tensor buffer."""
        most = max(1, min(self._config.max_blocks, self._dispatcher.buffer.blocks // 4) // blocks)
        return [range(start, min(start + most, rows)) for start in range(0, rows, most)]


def _reset(stream: StateStream) -> Command:
    return Command(Opcode.STREAM_RESET, stream.nsid)


def _first_address(requests: Sequence[Request]) -> int:
    completion = requests[0].completion
    return completion.result if completion is not None else -1


def parse_statistics(page: NDArray[np.uint8]) -> Statistics:
    """The statistics of one die."""
    s, value = UpdateStatistics, int.from_bytes(page[: UpdateStatistics.BYTES].tobytes(), "little")
    return Statistics(
        nans=s.nans.get(value),
        infinities=s.infinities.get(value),
        largest=np.uint32(s.largest.get(value)).view(np.float32),
        squares=tuple(np.uint32(field.get(value)).view(np.float32) for field in s.squares),
    )
