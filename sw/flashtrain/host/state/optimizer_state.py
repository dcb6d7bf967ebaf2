"""Optimizer state on the dies: its tensors, its update by gradients, and its generations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import (
    ArrayError,
    BufferFull,
    ForeignGeneration,
    GenerationPinned,
    NothingToCommit,
    StateMissing,
    StreamFull,
    TensorMismatch,
    UpdateError,
    UpdatePending,
)
from flashtrain.host.queues.command_errors import CommandError
from flashtrain.host.recovery.journal_record import StreamEntry
from flashtrain.host.streams.stored import StoredArray, join
from flashtrain.numerics import Constants
from flashtrain.spec import Geometry, Opcode, Persistency, Status
from flashtrain.spec.errors import require
from flashtrain.spec.optimizer import Input
from flashtrain.spec.state_format import StateFormat

from .generation_places import GenerationPlaces, placed_groups
from .group_gradients import GroupGradients
from .state_renewal import StateRenewal
from .state_stream import GenerationPlace, StateStream
from .state_update import Attempt, ConstantsReplaced, GroupCopies, GroupStatistics, StateUpdate
from .tensor_group import PlacedGroup, StoredTensor, TensorGroup, Tensors, place, rows_of
from .tiling import Pages, TileLayout, split_tensors

ATTEMPTS = 4
"""Attempts at an update that ends with a write fault; a repeated one mostly programs other blocks."""

_FAILURES_TILL_RENEWAL = 2
"""After this many failures the dies may be unable to read the state, so it is checked for a renewal."""


@dataclass(frozen=True)
class Generation:
    """A version of the state: its stream, the stream's number of resets, and the updates that led to it.

    - page: of the stream's first zone, where it begins.
    - last_dropped: the last drop in its stream before it.
    """

    stream: str
    number: int
    updates: int
    page: int = 0
    last_dropped: int = field(default=0, repr=False)


class OptimizerState:
    """W, M and V of groups of tensors, in streams of equal size that hold their generations in turn.

    An update reads the current generation, and writes the next one to another stream. :meth:`commit` makes
    the next one current, and frees the old one unless it is pinned; :meth:`skip` drops the next one. Training
    continues beside as many pinned generations as there are streams beyond two. A stream is reset when it has
    no room for another generation (:class:`GenerationPlaces`).

    Arguments and results have a list of tensors for each group. An update with a failed program is repeated
    from the current generation. That is *renewed* before, if the controller can read pages that the dies
    cannot (:meth:`renew`). An update that raises an exception leaves the current generation as it was. All
    zones of the streams belong to the state.
    """

    def __init__(
        self, geometry: Geometry, streams: Sequence[StateStream], groups: Sequence[TensorGroup]
    ) -> None:
        require(len(streams) >= 2, "streams", [s.name for s in streams], "at least two")
        require(len({s.nsid for s in streams}) == len(streams), "streams", [s.name for s in streams],
                "different streams")  # fmt: skip
        sizes = {stream.name: stream.zones for stream in streams}
        require(len(set(sizes.values())) == 1, "zones of the streams", sizes, "equal numbers")
        require(len(groups) >= 1, "groups", groups, "at least one")
        self._geometry = geometry
        self._streams = {stream.name: stream for stream in streams}
        self._placed = placed_groups(groups, geometry)
        rows = rows_of(self._placed)
        self._places = GenerationPlaces(rows, geometry)
        room = streams[0].zones * self._zone_rows
        if rows > room:
            raise StreamFull(
                f"streams {', '.join(sizes)} have room for {room} rows of tiles each; {rows} are needed"
            )
        self._current: Generation | None = None
        self._next: GenerationPlace | None = None
        self._update: StateUpdate | None = None  # under way
        self._pinned: dict[str, Generation] = {}
        self._statistics: tuple[GroupStatistics, ...] = ()
        self._renewals = 0

    # Content.

    @property
    def groups(self) -> tuple[TensorGroup, ...]:
        return tuple(placed.group for placed in self._placed)

    @property
    def current(self) -> Generation:
        """The current generation; :class:`StateMissing` before :meth:`initialise`."""
        if self._current is None:
            raise StateMissing("the optimizer state was never initialised")
        return self._current

    @property
    def pinned(self) -> tuple[Generation, ...]:
        return tuple(self._pinned.values())

    @property
    def places(self) -> int:
        """The number of generations that its streams hold: current, next and older ones."""
        return len(self._streams)

    @property
    def nbytes(self) -> int:
        """Bytes of weights and state, without padding."""
        return sum(ceil(p.layout.tile.state_bytes * p.layout.parameters) for p in self._placed)

    @property
    def statistics(self) -> tuple[GroupStatistics, ...]:
        """Statistics of the last update's gradients, before its SCALE: by group, then by die."""
        return self._statistics

    @property
    def renewals(self) -> int:
        """The number of renewals of the state."""
        return self._renewals

    def read(self, array: Input, generation: Generation | None = None) -> list[list[NDArray[np.float32]]]:
        """The weights (`Input.W`) or state (`Input.M`, `Input.V`) of the current or a pinned generation.

        :class:`ArrayError` when a group has no such state.
        """
        for placed in self._placed:
            self._require_array(placed, array)
        found = self._place_of(self.current if generation is None else generation)
        return [self._read_group(found, placed, placed.number_of(array)) for placed in self._placed]

    def read_group(
        self, array: Input, group: int, generation: Generation | None = None
    ) -> list[NDArray[np.float32]]:
        """As :meth:`read`, of one group."""
        placed = self._placed[group]
        self._require_array(placed, array)
        found = self._place_of(self.current if generation is None else generation)
        return self._read_group(found, placed, placed.number_of(array))

    def read_tensor(
        self, array: Input, group: int, tensor: int, generation: Generation | None = None
    ) -> NDArray[np.float32]:
        """As :meth:`read`, of one tensor."""
        stored = self.locate(array, group, tensor, generation)
        return stored.array(self._streams[stored.stream].read(stored.pages))

    def read_bfloat16(self, group: int, generation: Generation | None = None) -> list[NDArray[np.uint16]]:
        """The weights of one group as BF16, of which no other bits are read: 2 bytes a weight and the rest of
        their last page.

        :class:`ArrayError` unless they are kept in BF16, or in SPLIT, whose upper halves are read.
        """
        placed = self._placed[group]
        form = placed.layout.tile.formats.weight
        if placed.group.arrays[0] is not Input.W or form is StateFormat.FP32:
            kept = "no W" if placed.group.arrays[0] is not Input.W else f"W in {form.name}"
            raise ArrayError(f"group {group} has {kept}; expected W in BF16 or SPLIT to be read as BF16")
        found = self._place_of(self.current if generation is None else generation)
        layout = placed.layout
        pages = found.stream.read(self._pages_of(found, placed.first_row, layout, layout.upper_planes))
        return split_tensors(layout.upper_array(pages), placed.group.shapes)

    def locate(
        self, array: Input, group: int, tensor: int, generation: Generation | None = None
    ) -> StoredTensor:
        """The place of W, M or V of one tensor, for a read of this tensor only.

        It is of the current or a pinned generation, and valid until that is freed. :class:`ArrayError` when
        the group has no such state.
        """
        placed = self._placed[group]
        self._require_array(placed, array)
        found = self._place_of(self.current if generation is None else generation)
        place, number = placed.tensor(tensor), placed.number_of(array)
        pages = self._pages_of(found, place.first_row, place.layout, place.layout.planes_of(number))
        return StoredTensor(found.stream.name, pages, place, number)

    def rows(self, group: int) -> int:
        """Rows of tiles of a group."""
        return self._placed[group].layout.rows

    def locate_rows(self, group: int, rows: range, generation: Generation | None = None) -> StoredArray:
        """The place of rows of tiles, with all their arrays, of the current or a pinned generation.

        It holds uint8[rows, planes, channels, page]; :meth:`arrays` takes them apart.
        """
        stream, _ = found = self._place_of(self.current if generation is None else generation)
        g, first = self._geometry, found.row + self._placed[group].first_row + rows.start
        shape = (len(rows), g.planes, g.channels, g.page_bytes)
        return stream.stored_at(stream.planes_of_rows(first, len(rows), range(g.planes)), shape, np.uint8)

    def arrays(self, group: int, pages: Pages) -> dict[Input, list[NDArray[np.float32]]]:
        """Weights and state of a group from the pages of all its rows."""
        placed = self._placed[group]
        return {
            array: split_tensors(
                placed.layout.state_array(number, pages[:, planes.start : planes.stop]), placed.group.shapes
            )
            for number, array in enumerate(placed.group.arrays)
            for planes in (placed.layout.planes_of(number),)
        }

    # Operations.

    def initialise(
        self,
        w: Sequence[Tensors],
        m: Sequence[Tensors] | None = None,
        v: Sequence[Tensors] | None = None,
        updates: int = 0,
        note: bytes = b"",
    ) -> None:
        """Store the first generation: weights, and state that is zeros by default; all float32.

        updates: the number of updates that led to it; note: as of :meth:`commit`. :class:`GenerationPinned`
        while a generation is pinned.
        """
        if self._pinned:
            raise GenerationPinned(f"{self._names(self._pinned)} is pinned; expected all to be released")
        given = {Input.W: w, Input.M: m, Input.V: v}
        for name, tensors in given.items():
            if tensors is not None and len(tensors) != len(self._placed):
                raise TensorMismatch(f"{name.name} of {len(tensors)} groups; expected {len(self._placed)}")
        pages = [placed.state_pages(given) for placed in self._placed]
        first = next(iter(self._streams.values()))
        first.require_note(note, self._streams.values())
        first.admit()
        if self._update is not None:
            self._update.drop()
        self._current = self._next = None
        for stream in self._streams.values():
            if any(zone.room < zone.capacity for zone in stream.report()):
                stream.reset()
            self._places.empty(stream)
        made = self._places.take(first)
        with first.admitted():
            for placed, part in zip(self._placed, pages, strict=True):
                every = first.planes_of_rows(
                    placed.first_row, placed.layout.rows, range(self._geometry.planes)
                )
                if first.append(part).extents != join(every, first.zone_size):
                    raise UpdateError(f"stream {first.name!r} has zones out of service, or another user")
        if first.table.persistency is Persistency.VOLATILE:
            first.flush()  # the dies sense only programmed pages
        first.declare_committed(updates, note)
        self._current = self._generation(made, updates)

    def drop_pinned(self, is_dropped: Callable[[bytes], bool]) -> None:
        """Release and free the pinned generations in the streams whose note `is_dropped`, before
        :meth:`initialise`; they may be those of another state."""
        for stream in self._streams.values():
            entry = stream.committed
            if entry is not None and entry.pinned and is_dropped(entry.note):
                stream.release(drop=True)
                self._places.empty(stream)

    def attach(self) -> None:
        """Attach the state that the streams hold after `Device.recover`; the groups are those it had before.

        The last committed generation is current, and pins are as they were. :class:`StateMissing` when there
        is no committed state, as in a node without a journal.
        """
        found = self._committed(self._placed)
        if not found:
            # An earlier version left pages in part, which stay as they are.
            self._placed = place(self.groups, self._geometry)
            self._places = GenerationPlaces(rows_of(self._placed), self._geometry)
            found = self._committed(self._placed)
        if not found:
            raise StateMissing(f"{self._names(self._streams)} hold no committed state of these groups")
        generations = {
            name: self._generation(GenerationPlace(self._streams[name], entry.page), entry.updates)
            for name, entry in found.items()
        }
        self._current = generations[max(found, key=lambda name: found[name].commit)]
        self._next = self._update = None
        self._pinned = {name: generations[name] for name, entry in found.items() if entry.pinned}
        for stream in self._streams.values():
            if stream.committed is None and any(zone.room < zone.capacity for zone in stream.report()):
                stream.reset()  # what nothing needs, or the part of a renewal that did not end
            self._places.learn(stream)

    def update(self, gradients: Sequence[Tensors], constants: Sequence[Constants]) -> list[GroupCopies]:
        """Compute the next generation; returns for each group the 16-bit copies of its weights, or `None`.

        gradients: by group, in its format (BF16 as uint16); constants: by group. The copies are float16, or
        uint16 that holds BF16. Afterwards check :attr:`statistics`, and call :meth:`commit` or :meth:`skip`.

        :class:`UpdatePending` when the update before was neither committed nor skipped. Other errors are
        :class:`GenerationPinned`, :class:`ForeignGeneration`, :class:`TensorMismatch` and
        :class:`CommandError`.
        """
        return self.update_async(gradients, constants).result()

    def update_async(self, gradients: Sequence[Tensors], constants: Sequence[Constants]) -> StateUpdate:
        """As :meth:`update`, without waiting for the dies; with several groups, only for the last one.

        The caller waits for its result before :meth:`commit` or :meth:`skip`.
        """
        self._require_no_update()
        if not len(gradients) == len(constants) == len(self._placed):
            raise TensorMismatch(
                f"gradients of {len(gradients)} groups, constants of {len(constants)}; "
                f"expected {len(self._placed)} of both"
            )
        groups = self._gradients(constants)
        for group, tensors in zip(groups, gradients, strict=True):
            if len(tensors) != len(group.missing):
                name = f"gradients of group {group.placed.number}"
                raise TensorMismatch(f"{len(tensors)} tensors of {name}; expected {len(group.missing)}")
            for number, tensor in enumerate(tensors):
                group.give(number, tensor)
        return self._begin(groups, wait=True)

    def begin(self, constants: Sequence[Constants]) -> StateUpdate:
        """Begin an update whose gradients are given to it as they come, such as during a backward pass.

        Constants are those of :meth:`update`, and so are the errors and the result, to the last bit. Until
        the result, the current generation can be read. Constants belong to the device: if another update
        sends its own before this one has all gradients, this one is repeated at its result.
        """
        self._require_no_update()
        return self._begin(self._gradients(constants), wait=False)

    def commit(self, note: bytes = b"", pin: bool = False, release: Generation | None = None) -> Generation:
        """Make the updated generation current; the previous one is freed unless it is pinned.

        All that it does becomes durable in one record: after a loss of power it has happened, or nothing has.

        - note: the host's state that belongs to the generation, such as the position in the data; see
          :meth:`note`. :class:`NoteTooLong` and :class:`JournalMissing` before anything is changed.
        - pin: pin the new generation, as :meth:`pin`.
        - release: a pinned generation to free, as :meth:`release`.
        """
        destination = self._updated("commit")
        released = None if release is None else self._pinned_stream(release)
        updates, source = self.current.updates + 1, self._place_of(self.current)
        dropped = [] if self.current.stream in self._pinned else [source.stream]
        dropped += [] if released is None else [released]
        with self._places.dropped(*dropped) as kept:
            destination.stream.commit(source, updates, note, pin, released, destination.page, kept)
        if release is not None:
            del self._pinned[release.stream]
        self._current = self._generation(destination, updates)
        if pin:
            self._pinned[destination.stream.name] = self._current
        self._next = None
        return self._current

    @property
    def takes_notes(self) -> bool:
        """Whether a journal records the notes of commits."""
        return all(stream.takes_notes for stream in self._streams.values())

    def note(self, generation: Generation | None = None) -> bytes:
        """The note of the current or a pinned generation; empty without one."""
        return self._place_of(self.current if generation is None else generation).stream.note

    def skip(self) -> None:
        """Drop the updated generation; the current one stays current."""
        stream = self._updated("skip").stream
        with self._places.dropped(stream) as kept:
            if kept:
                stream.advance()
            else:
                stream.reset()
        self._next = None

    def renew(self) -> Generation:
        """Copy the current generation to another stream, and free the old one unless it is pinned.

        The controller reads the content at any read level; :class:`StateLost` if a page cannot be read. After
        that error or a loss of power, the current generation is unchanged. :class:`GenerationPinned` also if
        no stream would be left for the next update.
        """
        if self._next is not None:
            raise UpdatePending("renewal while an update is neither committed nor skipped")
        old, destination = self.current, self._destination()
        if not self._streams.keys() - self._pinned.keys() - {destination.name}:
            raise GenerationPinned(
                f"{self._names(self._pinned)} is pinned; a generation beside the renewed one has no place"
            )
        self._copy(old)
        self._renewals += 1
        return self.current

    def revert(self, generation: Generation, note: bytes | None = None) -> Generation:
        """Make a copy of a pinned generation current; the current one is freed unless pinned.

        It is read and written once. note: by default that of the pinned one. Errors are those of
        :meth:`renew`.
        """
        if self._next is not None:
            raise UpdatePending("revert while an update is neither committed nor skipped")
        self._pinned_stream(generation)
        self._destination().admit()
        return self._copy(generation, note)

    def fall_back(self, generation: Generation) -> Generation:
        """Drop the current generation, pinned or not, and make a pinned one current, in one record.

        Nothing is copied. :class:`ForeignGeneration` if `generation` is not pinned.
        """
        if self._next is not None:
            raise UpdatePending("fall back while an update is neither committed nor skipped")
        self._pinned_stream(generation)
        if generation != self.current:
            dropped = self._place_of(self.current).stream
            if self._pinned.pop(dropped.name, None) is None:
                dropped.reset()
            else:
                dropped.release(drop=True)
            self._places.empty(dropped)
            self._current = generation
        return generation

    def pin(self, note: bytes | None = None) -> Generation:
        """Keep the current generation until :meth:`release`, as a checkpoint without a copy.

        note: recorded with it in place of its note, as of :meth:`commit`.
        """
        generation = self.current
        self._place_of(generation).stream.pin(note)
        self._pinned[generation.stream] = generation
        return generation

    def release(self, generation: Generation) -> None:
        """Undo :meth:`pin`; the generation is freed if it is not current."""
        stream = self._pinned_stream(generation)
        if generation == self.current:
            stream.release(drop=False)
        else:
            with self._places.dropped(stream) as kept:
                stream.release(drop=True, keep=bool(kept))
        del self._pinned[generation.stream]

    # Implementation.

    def _require_no_update(self) -> None:
        if self._next is not None:
            raise UpdatePending("the update before was neither committed nor skipped")
        self._place_of(self.current)
        self._destination()

    def _gradients(self, constants: Sequence[Constants]) -> list[GroupGradients]:
        if len(constants) != len(self._placed):
            raise TensorMismatch(f"constants of {len(constants)} groups; expected {len(self._placed)}")
        return [
            GroupGradients(placed, placed.step(one, self.current.updates + 1))
            for placed, one in zip(self._placed, constants, strict=True)
        ]

    def _begin(self, groups: Sequence[GroupGradients], wait: bool) -> StateUpdate:
        def begin() -> Attempt:
            source = self._place_of(self.current)
            return Attempt(self._places.take(self._destination()), source, groups, self._zone_rows)

        def drop() -> None:
            self._next = self._update = None
            first.destination.stream.settle(first.pendings)
            self._reset(first.destination.stream)

        self._destination().admit()
        first = begin()
        update = StateUpdate(groups, first, lambda: self._finish(first, begin), drop)
        self._next, self._update = first.destination, update
        update.advance(wait)
        return update

    def _copy(self, source: Generation, note: bytes | None = None) -> Generation:
        """Copy a generation to another stream, and make that current in place of the current one."""
        old, found = self._place_of(self.current).stream, self._place_of(source)
        note = self.note(source) if note is None else note
        copy = self._places.take(self._destination())
        stream = copy.stream
        try:
            StateRenewal(found, self._placed).write(copy)
            if self.current.stream in self._pinned:
                stream.declare_committed(source.updates, note, copy.page)
            else:
                with self._places.dropped(old) as kept:
                    stream.supersede(old, source.updates, note, copy.page, kept)
        except (CommandError, BufferFull):
            self._reset(stream)
            raise
        self._current = self._generation(copy, source.updates)
        return self._current

    def _pinned_stream(self, generation: Generation) -> StateStream:
        if self._pinned.get(generation.stream) != generation:
            raise ForeignGeneration(f"{generation} is not pinned; pinned are {list(self.pinned)}")
        return self._streams[generation.stream]

    def _committed(self, placed: Sequence[PlacedGroup]) -> dict[str, StreamEntry]:
        """The journal's entries of the streams with a committed generation of these groups."""
        return {
            name: entry
            for name, stream in self._streams.items()
            if (entry := stream.committed) is not None
            and self._has_rows(stream, entry.page * self._geometry.dies + rows_of(placed))
        }

    def _has_rows(self, stream: StateStream, rows: int) -> bool:
        """Whether so many rows of tiles from the stream's start are written."""
        blocks = rows * stream.row_blocks
        return all(
            zone.write_pointer is None or number * zone.capacity + zone.capacity - zone.room >= blocks
            for number, zone in enumerate(stream.report())
            if number * zone.capacity < blocks
        )

    @property
    def _zone_rows(self) -> int:
        return self._geometry.dies * self._geometry.pages

    def _generation(self, place: GenerationPlace, updates: int) -> Generation:
        """The generation that lies there."""
        stream, page = place
        return Generation(stream.name, stream.generation, updates, page, stream.last_dropped)

    def _reset(self, stream: StateStream) -> None:
        stream.reset()
        self._places.empty(stream)

    def _place_of(self, generation: Generation) -> GenerationPlace:
        """The place of a generation; :class:`ForeignGeneration` when its stream no longer holds it."""
        stream = self._streams.get(generation.stream)
        if stream is None or generation not in (self._current, *self._pinned.values()):
            raise ForeignGeneration(f"{generation} is neither the current one nor pinned")
        if stream.generation != generation.number:
            raise ForeignGeneration(
                f"stream {stream.name!r} is at generation {stream.generation}; expected {generation.number}"
            )
        if stream.last_dropped != generation.last_dropped:
            raise ForeignGeneration(f"{generation} was dropped by another user of stream {stream.name!r}")
        return GenerationPlace(stream, generation.page)

    def _destination(self) -> StateStream:
        others = [name for name in self._streams if name != self.current.stream]
        for name in others:
            if name not in self._pinned:
                return self._streams[name]
        raise GenerationPinned(f"{self._names(others)} is pinned; the next generation has no place")

    def _finish(self, attempt: Attempt, again: Callable[[], Attempt], failures: int = 0) -> list[GroupCopies]:
        """Wait for an update. After a failure there is nothing to commit, and the state is unchanged."""
        self._next = self._update = None
        try:
            results = attempt.results()
        except ConstantsReplaced:
            self._reset(attempt.destination.stream)
            return self._finish(again(), again, failures)
        except (CommandError, BufferFull, ForeignGeneration) as error:
            self._reset(attempt.destination.stream)
            failures += 1
            if failures == ATTEMPTS or not _write_failed(error):
                raise
            if failures >= _FAILURES_TILL_RENEWAL and self._renewal.helps():
                self.renew()
            return self._finish(again(), again, failures)
        self._next, self._statistics = attempt.destination, tuple(statistics for _, statistics in results)
        return [copies for copies, _ in results]

    @property
    def _renewal(self) -> StateRenewal:
        return StateRenewal(self._place_of(self.current), self._placed)

    def _updated(self, action: str) -> GenerationPlace:
        if self._next is None:
            raise NothingToCommit(f"{action} without an update before it")
        if self._update is not None:
            raise UpdatePending(f"{action} of an update whose result was not waited for")
        return self._next

    def _names(self, streams: Iterable[str]) -> str:
        return ", ".join(f"stream {name!r}" for name in streams)

    def _require_array(self, placed: PlacedGroup, array: Input) -> None:
        if array not in placed.group.arrays:
            raise ArrayError(f"group {placed.number}, {placed.group.code.name}, has no {array.name}")

    def _read_group(
        self, found: GenerationPlace, placed: PlacedGroup, number: int
    ) -> list[NDArray[np.float32]]:
        layout = placed.layout
        pages = found.stream.read(self._pages_of(found, placed.first_row, layout, layout.planes_of(number)))
        return split_tensors(layout.state_array(number, pages), placed.group.shapes)

    def _pages_of(
        self, found: GenerationPlace, first_row: int, layout: TileLayout, planes: range
    ) -> StoredArray:
        """The pages of these planes in the rows of `layout`, from the generation's row `first_row` on."""
        g, stream = self._geometry, found.stream
        shape = (layout.rows, len(planes), g.channels, g.page_bytes)
        rows = stream.planes_of_rows(found.row + first_row, layout.rows, planes)
        return stream.stored_at(rows, shape, np.uint8)


def _write_failed(error: Exception) -> bool:
    """Whether a tile could not be programmed, or could not be read by its die."""
    return (
        isinstance(error, CommandError)
        and error.command.opcode is Opcode.UPDATE
        and error.status == Status.WRITE_FAULT
    )
