"""A model of `PageSets` between two of its steps: rules without cycles."""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from flashtrain.rtl.layouts import PageKind


class SetPlace(NamedTuple):
    """What the pages of a set have in common."""

    zone: int
    page: int
    die: int
    kind: PageKind = PageKind.DATA


class Told(NamedTuple):
    """What the first page of a set tells its agent."""

    source: int = 0
    source_page: int = 0
    copies: int = 0
    tag: int = 0


@dataclass(frozen=True)
class Page:
    place: SetPlace
    plane: int
    stream: int = 0
    close: bool = False
    told: Told = Told()


class State(Enum):
    OPEN = auto()
    CLOSED = auto()
    OFFERED = auto()
    WITH_AGENT = auto()


@dataclass(eq=False)
class ModelSet:
    place: SetPlace
    stream: int
    first: int
    last: int
    told: Told
    slot: int | None = None
    arrived: int = 0  # pages
    state: State = State.OPEN

    @property
    def is_data(self) -> bool:
        return self.place.kind is PageKind.DATA

    @property
    def whole(self) -> bool:
        return self.arrived == self.last - self.first + 1

    def holds(self, place: SetPlace, plane: int) -> bool:
        return self.place == place and self.first <= plane <= self.last

    def has_data_of(self, plane: int) -> bool:
        return plane - self.first < self.arrived


@dataclass
class PageSetModel:
    """Sets in `sets` stand in the order in which they were opened or closed last."""

    slots: int
    planes: int
    sets: list[ModelSet] = field(default_factory=list)
    on_the_way: list[ModelSet] = field(default_factory=list)  # the set of each page whose data is to come
    page: Page | None = None  # waits for room
    evicted: bool = False
    pinned: ModelSet | None = None
    lookup: tuple[SetPlace, int] | None = None
    answer: tuple[bool, int | None] | None = None
    flush: int | None = None
    awaited: list[ModelSet] | None = None  # by the flush in flight
    flushes: int = 0
    zone: int | None = None  # to be discarded
    evictions: int = 0

    def settle(self) -> None:
        """Do everything that can be done; what one thing frees another may use, so go round again."""
        for _ in range(3):
            for act in (
                self._offer,
                self._place,
                self._look_up,
                self._begin_flush,
                self._discard,
                self._end_flush,
            ):
                act()

    # Events from outside, each followed by `settle`.
    def arrive(self) -> None:
        self.on_the_way.pop(0).arrived += 1

    def accept(self, one: ModelSet) -> None:
        one.state = State.WITH_AGENT

    def end(self, one: ModelSet) -> None:
        self.sets.remove(one)

    def unpin(self) -> None:
        self.pinned = None

    def offered(self, die: int) -> ModelSet | None:
        return next((one for one in self.sets if one.place.die == die and one.state is State.OFFERED), None)

    def _close(self, one: ModelSet) -> None:
        one.state = State.CLOSED
        self.sets.remove(one)
        self.sets.append(one)

    def _place(self) -> None:
        page = self.page
        if page is None:
            return
        own = next((one for one in self.sets if one.state is State.OPEN and one.place == page.place), None)
        taken = len(self.sets) + (self.pinned is not None and self.pinned not in self.sets)
        if own is not None:
            own.last = page.plane
        elif taken < self.slots:
            own = ModelSet(page.place, page.stream, page.plane, page.plane, page.told)
            self.sets.append(own)
        else:
            oldest = next((one for one in self.sets if one.state is State.OPEN and one.is_data), None)
            if oldest is not None and not self.evicted:
                self._close(oldest)
                self.evicted = True
                self.evictions += 1
            return
        if page.close or page.plane == self.planes - 1:
            self._close(own)
        self.on_the_way.append(own)
        self.page = None
        self.evicted = False

    def _offer(self) -> None:
        busy = {one.place.die for one in self.sets if one.state is State.OFFERED}
        for one in [one for one in self.sets if one.state is State.CLOSED]:
            if one.place.die not in busy and one.whole:
                one.state = State.OFFERED
            busy.add(one.place.die)

    def _look_up(self) -> None:
        if self.lookup is None:
            return
        place, plane = self.lookup
        found = next((one for one in self.sets if one.holds(place, plane)), None)
        if found is None:
            self.answer = (False, None)
        elif found.has_data_of(plane) and self.pinned is None:
            self.pinned = found
            self.answer = (True, found.slot)
        else:
            return
        self.lookup = None

    def _begin_flush(self) -> None:
        if self.flush is None or self.awaited is not None:
            return
        self.awaited = [one for one in self.sets if one.stream == self.flush]
        for one in self.awaited:
            if one.state is State.OPEN:
                self._close(one)
        self.flush = None

    def _end_flush(self) -> None:
        if self.awaited is not None and not any(one in self.sets for one in self.awaited):
            self.awaited = None
            self.flushes += 1

    def _discard(self) -> None:
        if self.zone is None:
            return
        ours = [one for one in self.sets if one.place.zone == self.zone and one.is_data]
        held = [one for one in ours if one.state in (State.OPEN, State.CLOSED)]
        kept = any(one.state is State.OFFERED for one in ours)
        for one in held:
            if one.whole:
                self.sets.remove(one)
            else:
                kept = True
        if not kept:
            self.zone = None
