"""Room for the changes of a catalogue: zones whose arrays are gone are emptied.

A zone is reset when all in it is gone. Before, what is left in it moves to other zones, in a commit of its
own. A zone's capacity and some blocks are kept free for such moves (the *reserve*), so they always find room.
"""

from collections.abc import Iterable

from .catalog_log import CatalogLog, Part
from .entry import Entry
from .errors import CatalogDamaged, CatalogFull
from .page_layout import PageLayout, offsets
from .ranges_read import RangesRead, extents_of
from .run import Run


class CatalogRoom:
    """Makes room in the stream of a catalogue; the caller holds `CatalogLog.changing`."""

    def __init__(self, log: CatalogLog) -> None:
        self._log = log
        self._stream = log.stream
        self._size = log.stream.block_bytes

    def make(self, blocks: int, index: int, may_use_reserve: bool = False) -> None:
        """Make room for an append of `blocks` blocks; `index` blocks have the whole index afterwards.

        :class:`CatalogFull` if there is none. An append that may use the reserve leaves less than it.
        """
        reserve = self._stream.zone_capacity + index
        dropped, unmovable = False, set[int]()
        while True:
            rooms = {zone: room for zone, room in enumerate(self._stream.rooms()) if room is not None}
            room, live = sum(rooms.values()), sum(self._log.live.blocks(zone) for zone in rooms)
            # To move the arrays of any zone gains room, as each has a dead block more than the index has.
            most = len(rooms) * (self._stream.zone_capacity - index - 1) - reserve - 2 * index
            too_many = live + blocks > most and not may_use_reserve
            if not too_many and room >= blocks + reserve:
                return
            if not too_many and not dropped:
                dropped = True
                self._drop_rest()
                continue
            if too_many and self._packed(rooms) + blocks > most:
                break
            if not self._move_one(rooms, index, too_many, unmovable):
                break
        if not may_use_reserve or room < blocks:
            raise CatalogFull(
                f"the catalogue of stream {self._stream.name!r} has room for {max(0, most - live)} blocks;"
                f" {blocks} are needed"
            )

    def _packed(self, zones: Iterable[int]) -> int:
        """The fewest blocks that can have all that is live."""
        return -(-sum(self._log.live.nbytes(zone) for zone in zones) // self._size)

    def _blocks(self, runs: Iterable[Run]) -> int:
        """The blocks that have some of these bytes."""
        return sum(extent.blocks for extent in extents_of(runs, self._size, self._stream.zone_size))

    def _drop_rest(self) -> None:
        """Drop all that the catalogue does not need; zones without live blocks are reset."""
        extents = extents_of(self._log.live_runs(), self._size, self._stream.zone_size)
        blocks = sum(extent.blocks for extent in extents)
        self._stream.drop_all_but([self._stream.stored_at(extents, (blocks,), "u1")] if extents else [])

    def _move_one(self, rooms: dict[int, int], index: int, pack: bool, unmovable: set[int]) -> bool:
        """Empty the zone with the most to gain; whether there was one.

        pack: to have fewer live blocks, else to have more room. rooms: of the zones in service.
        """
        live, capacity = self._log.live, self._stream.zone_capacity

        def used(zone: int) -> int:
            return live.blocks(zone) if pack else capacity - rooms[zone]

        def most_gain(zone: int) -> int:
            return used(zone) - self._packed([zone])

        for zone in sorted(rooms.keys() - unmovable, key=most_gain, reverse=True):
            if most_gain(zone) <= 0:
                return False
            runs = self._runs_in(zone)
            layout = PageLayout(self._size)
            places = offsets([run.nbytes for *_, run in runs], layout)
            # The index is written anew with a move, so to pack is to have fewer blocks of arrays.
            before = self._blocks([run for *_, run in runs]) if pack else used(zone) - index
            gain = before - layout.blocks
            if gain <= 0 or layout.blocks + index > sum(rooms.values()) - rooms[zone]:
                continue
            try:
                self._move(zone, rooms[zone], runs, places, layout)
            except CatalogDamaged:
                unmovable.add(zone)
                continue
            return True
        return False

    def _runs_in(self, zone: int) -> list[tuple[str, int, Run]]:
        """The runs of arrays in a zone, with the array's name and the run's position in it."""
        first = zone * self._stream.zone_size * self._size
        end = first + self._stream.zone_capacity * self._size
        return [
            (name, position, run)
            for name, entry in self._log.entries.items()
            for position, run in enumerate(entry.runs)
            if first <= run.address < end
        ]

    def _move(
        self, zone: int, room: int, runs: list[tuple[str, int, Run]], places: list[int], layout: PageLayout
    ) -> None:
        parts = self._read([run for *_, run in runs], places)
        moved: dict[str, Entry] = {}
        for (name, position, run), place in zip(runs, places, strict=True):
            entry = moved.get(name, self._log.entries[name])
            now = list(entry.runs)
            now[position] = Run.relative(place, run.nbytes)
            moved[name] = entry.at(now, entry.generation)
        if 0 < room < self._stream.zone_capacity:
            self._stream.finish_zone(zone)  # else the append may go to this zone
        self._log.commit(moved, layout, parts, whole=True)
        self._drop_rest()

    def _read(self, runs: list[Run], places: list[int]) -> list[Part]:
        nbytes = sum(run.nbytes for run in runs)
        generation = self._stream.stored_at((), (0,), "u1").generation
        data = RangesRead(
            self._stream, runs, generation, [(0, nbytes)], 0, nbytes, "an array that moves"
        ).result()
        parts, start = [], 0
        for run, place in zip(runs, places, strict=True):
            parts.append(Part(place, data[start : start + run.nbytes]))
            start += run.nbytes
        return parts
