"""The zones of a stream as a ring: data that are dead, and the zones that are reset because of them."""

from collections.abc import Iterable

from .block_runs import BlockRuns
from .generations import StreamGenerations
from .stored import Extent
from .stream_space import StreamSpace


class StreamRing:
    """Which blocks of a stream's zones are dead, and which zones a reset makes room in.

    Appends go on behind dead data in the same zone. A zone is *spent* when it is full and all in it is dead.
    So an erase is paid for each zone of data, however little an iteration appends. A zone that is not full
    is spent, too, where the room behind it does not suffice.

    The ring decides and counts; the caller sends the commands, and notes a reset by :meth:`empty`.

    Members
    -------
    space: the room in the zones.
    in_use: something was dropped, so the stream's user drops what is not needed.
    resets: zones that were reset because all in them was dead.
    """

    def __init__(self, space: StreamSpace, generations: StreamGenerations) -> None:
        self.space = space
        self.in_use = False
        self.resets = 0
        self._generations = generations
        self._with_dead: set[int] = set()
        self._finished: dict[int, tuple[int, int]] = {}  # written blocks by zone, with its last drop
        self._reserved = 0  # blocks of the stream at the last release
        self._most_appended = 0  # blocks between two releases

    def drop(self, extents: Iterable[Extent]) -> None:
        """Note that these blocks are dead."""
        self.in_use = True
        for extent in extents:
            zone, start = divmod(extent.lba, self.space.zone_size)
            self._generations.kill(zone, start, start + extent.blocks)
            self._with_dead.add(zone)

    def drop_all_but(self, kept: Iterable[Extent]) -> None:
        """Note that all written blocks but these are dead."""
        lived: dict[int, BlockRuns] = {}
        for extent in kept:
            zone, start = divmod(extent.lba, self.space.zone_size)
            lived.setdefault(zone, BlockRuns()).add(start, start + extent.blocks)
        gaps = (
            Extent(zone * self.space.zone_size + start, end - start)
            for zone in range(self.space.zones)
            for start, end in lived.get(zone, BlockRuns()).gaps(self.space.written(zone))
        )
        self.drop(gaps)

    def release(self) -> None:
        """Note that all that was appended is dead."""
        self.in_use = True
        self._generations.release()
        for zone in range(self.space.zones):
            if written := self.space.written(zone):
                self._generations.kill(zone, 0, written)
                self._with_dead.add(zone)
        self._most_appended = max(self._most_appended, self.space.reserved - self._reserved)
        self._reserved = self.space.reserved

    def spent(self) -> list[int]:
        """The full zones in which all is dead; the others in which it is, if as much as was appended between
        two releases finds no room otherwise."""
        full = self._all_dead(but_full=True)
        room = self.space.room + len(full) * self.space.zone_capacity
        appended = self.space.reserved - self._reserved
        return full if appended or room >= self._most_appended else self._all_dead()

    def spent_for(self, blocks: int) -> list[int]:
        """The zones in which all is dead, if so many blocks find no room otherwise."""
        return self._all_dead() if blocks > self.space.room else []

    def aged(self, now: int, seconds: int) -> list[int]:
        """The zones that would take the next append, although their oldest data are of this age."""
        return [
            zone
            for zone in self.space.partly_written
            if (opened := self.space.opened(zone)) is not None and now - opened >= seconds
        ]

    def is_all_dead(self, zone: int) -> bool:
        return 0 < self._written(zone) <= self._dead(zone)

    def finish(self, zone: int) -> None:
        """Note that a zone was made full before its end."""
        self._finished[zone] = (self._generations.last_drop(zone), self._written(zone))
        self.space.finish(zone)

    def undo_finish(self, zone: int) -> None:
        """Note that the device refused to make a zone full."""
        self._finished.pop(zone, None)

    def empty(self, zone: int) -> int:
        """Note the reset of a zone; returns the number of the drop."""
        self._with_dead.discard(zone)
        self.space.empty(zone)
        self.resets += 1
        return self._generations.drop(zone)

    def undo(self, zone: int, drop: int) -> None:
        """Note that the device refused a reset: the zone is as it was, and spent."""
        self._generations.undo(drop)
        self._with_dead.add(zone)
        self.resets -= 1

    def _all_dead(self, but_full: bool = False) -> list[int]:
        if self._generations.pinned:
            return []
        self._with_dead = {zone for zone in self._with_dead if self._dead(zone)}
        return [
            zone
            for zone in sorted(self._with_dead)
            if self.space.in_service(zone) and self.is_all_dead(zone)
            and not (but_full and self.space.room_in(zone))
        ]  # fmt: skip

    def _dead(self, zone: int) -> int:
        return self._generations.dead(zone).count

    def _written(self, zone: int) -> int:
        last, written = self._finished.get(zone, (-1, 0))
        return written if last == self._generations.last_drop(zone) else self.space.written(zone)
