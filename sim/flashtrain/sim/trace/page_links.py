"""Which operations of arrays and buses serve which pages of a command.

Three facts of the RTL are joined; none of them is a guess from the order of time alone:

- the seams between front end and channels name each page's command (tag) and place (physical zone, page);
- changes of the block tables say where a block of a zone lies, which otherwise has the zone's number;
- the arrays' log names block and page of what they sense, program and erase.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.rtl.layouts import PageKind
from flashtrain.sim.link.recording import SeamKind
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec import Geometry


class PagePlace(NamedTuple):
    """A page of a physical zone, wherever its block lies."""

    channel: int
    die: int
    plane: int
    zone: int
    page: int


class ArrayPage(NamedTuple):
    """The work of an array on a page from cycle `start` to `end`. An erase is of all pages of the block."""

    kind: Kind
    channel: int
    die: int
    plane: int
    block: int
    page: int
    start: int
    end: int

    @property
    def operation(self) -> tuple[int, int, int]:
        """The common key of the pages of an operation: channel, die and start."""
        return self.channel, self.die, self.start


class Transfer(NamedTuple):
    """A page on a channel's bus."""

    channel: int
    start: int
    end: int


@dataclass
class PageUse:
    """A page of a command, as a channel has been asked for it.

    - clock: of the request; ended: its data were offered, or None.
    - writes: the page is written; else it is read. sensed: a read that no buffer has served.
    - operations: of arrays that did it; transfers: of its data on the bus.
    """

    place: PagePlace
    clock: int
    writes: bool
    sensed: bool = False
    ended: int | None = None
    operations: list[ArrayPage] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)


class PageLinks:
    """The pages of each tag, from the seams, with the operations that served them."""

    def __init__(
        self, geometry: Geometry, seams: NDArray[np.void], pages: NDArray[np.void], events: NDArray[np.void]
    ) -> None:
        self._geometry = geometry
        self._blocks = _BlockTables(geometry, seams)
        self._arrays = _by_place(self._blocks, pages)
        self._into, self._out_of = _transfers(events, Kind.DATA_IN), _transfers(events, Kind.DATA_OUT)
        self._taken: dict[tuple[int, int, int], int] = defaultdict(int)

    def write(self, seam: np.void) -> PageUse:
        """The page of a PAGE_WRITTEN."""
        use = PageUse(_place(seam), int(seam["clock"]), writes=True)
        kind = PageKind(int(seam["flags"]))
        if kind is PageKind.CONSTANTS:
            return use
        if kind is PageKind.GRADIENTS:
            source = use.place._replace(zone=int(seam["source"]), plane=0)
            use.operations += self._first(source, Kind.SENSE, use.clock)
            use.operations += self._programs(use.place._replace(plane=0), use.clock)
            return use
        use.operations += self._programs(use.place, use.clock)
        for operation in use.operations:
            use.transfers += self._before(operation)
        return use

    def read(self, seam: np.void, offered: np.void | None) -> PageUse:
        """The page of a PAGE_READ, and of the PAGE_OFFERED that answers it."""
        use = PageUse(_place(seam), int(seam["clock"]), writes=False)
        if offered is None:
            return use
        use.ended, use.sensed = int(offered["clock"]), bool(offered["flags"])
        if not use.sensed or seam["flags"]:
            return use
        senses = [each for each in self._of(use.place, Kind.SENSE) if each.end <= use.ended]
        # Retries sense a page again; the last one is what was offered.
        retried = [each for each in senses[:-1] if each.start >= use.clock]
        use.operations = retried + senses[-1:]
        if senses:
            use.transfers = self._after(senses[-1], use.ended)
        return use

    def _of(self, place: PagePlace, kind: Kind) -> list[ArrayPage]:
        known = self._arrays[kind].get(place)
        # A spare block that was in use before the recording: its zone is not known.
        return known or self._arrays[kind].get(place._replace(zone=_UNKNOWN), [])

    def _first(self, place: PagePlace, kind: Kind, clock: int) -> list[ArrayPage]:
        return [each for each in self._of(place, kind) if each.start >= clock][:1]

    def _programs(self, place: PagePlace, clock: int) -> list[ArrayPage]:
        """The program, and the one on another block when that one has failed."""
        found = [each for each in self._of(place, Kind.PROGRAM) if each.start >= clock]
        return [each for number, each in enumerate(found) if not number or each.block != found[0].block][:2]

    def _before(self, operation: ArrayPage) -> list[Transfer]:
        """The data of a program: the last page into the plane's register before it."""
        transfers = self._into[operation.channel, operation.die, operation.plane]
        index = bisect_right(transfers, operation.start, key=lambda each: each.end)
        return transfers[index - 1 : index]

    def _after(self, sense: ArrayPage, ended: int) -> list[Transfer]:
        """The data of a sense: pages leave a plane in the order of their senses."""
        key = sense.channel, sense.die, sense.plane
        transfers = self._out_of[key]
        index = max(bisect_left(transfers, sense.end, key=lambda each: each.start), self._taken[key])
        if index == len(transfers) or transfers[index].end > ended:
            return []
        self._taken[key] = index + 1
        return transfers[index : index + 1]


_UNKNOWN = -1


class _BlockTables:
    """The zone that a block serves at a time."""

    def __init__(self, geometry: Geometry, seams: NDArray[np.void]) -> None:
        self._zones = geometry.zones
        self._changes: dict[tuple[int, int, int, int], list[tuple[int, int]]] = defaultdict(list)
        for seam in seams[seams["kind"] == SeamKind.BLOCK_REPLACED]:
            block = int(seam["channel"]), int(seam["die"]), int(seam["plane"]), int(seam["source"])
            self._changes[block].append((int(seam["clock"]), int(seam["zone"])))

    def zone(self, channel: int, die: int, plane: int, block: int, clock: int) -> int:
        """`_UNKNOWN` for a spare block whose use is older than the recording."""
        zone = block if block < self._zones else _UNKNOWN
        for changed, new in self._changes.get((channel, die, plane, block), ()):
            if changed <= clock:
                zone = new
        return zone


def _by_place(tables: _BlockTables, pages: NDArray[np.void]) -> dict[Kind, dict[PagePlace, list[ArrayPage]]]:
    found: dict[Kind, dict[PagePlace, list[ArrayPage]]] = {
        kind: defaultdict(list) for kind in (Kind.SENSE, Kind.PROGRAM, Kind.ERASE)
    }
    for each in array_pages(pages):
        zone = tables.zone(each.channel, each.die, each.plane, each.block, each.start)
        place = PagePlace(each.channel, each.die, each.plane, zone, each.page)
        found[each.kind][place].append(each)
    return found


def array_pages(pages: NDArray[np.void]) -> Iterable[ArrayPage]:
    """The records in the order of their starts."""
    for start, end, kind, channel, die, plane, block, page in np.sort(pages, order="start").tolist():
        yield ArrayPage(Kind(kind), channel, die, plane, block, page, start, end)


def _transfers(events: NDArray[np.void], kind: Kind) -> dict[tuple[int, int, int], list[Transfer]]:
    """Transfers by channel, die and plane, in the order of time."""
    found: dict[tuple[int, int, int], list[Transfer]] = defaultdict(list)
    for start, end, _kind, channel, die, plane in events[events["kind"] == kind].tolist():
        found[channel, die, plane].append(Transfer(channel, start, end))
    return found


def _place(seam: np.void) -> PagePlace:
    return PagePlace(*(int(seam[name]) for name in PagePlace._fields))
