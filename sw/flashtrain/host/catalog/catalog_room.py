"""Room for the changes of a catalogue: zones whose arrays are gone are emptied.

A zone is reset when all in it is gone. Before, what is left in it moves to other zones, in a commit of its
own. A zone's capacity and some blocks are kept free for such moves (the *reserve*), so they always find room.
"""

from flashtrain.host.queues.command_errors import MediaError

from .catalog_log import CatalogLog, Part
from .entry import Entry
from .errors import CatalogFull
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
        kept = self._stream.zone_capacity + index
        unmovable: set[int] = set()
        while True:
            rooms = self._stream.rooms()
            zones = {zone: room for zone, room in enumerate(rooms) if room is not None}
            # Room that the moves of all other zones need: each writes the index again.
            most = len(zones) * (self._stream.zone_capacity - index - 1) - kept - 2 * index
            live = sum(self._log.live.blocks(zone) for zone in zones)
            fits, free = live + blocks <= most, sum(zones.values()) >= blocks + kept
            fits |= may_use_reserve
            if fits and free:
                return
            if free or not self._drop_rest(sum(zones.values())):
                packed = -(-sum(self._log.live.nbytes(zone) for zone in zones) // self._size)
                hopeless = packed + blocks > most and not fits
                if hopeless or not self._move_one(zones, index, fits, unmovable):
                    break
        if not may_use_reserve or sum(zones.values()) < blocks:
            raise CatalogFull(
                f"the catalogue of stream {self._stream.name!r} has room for {max(0, most - live)} blocks;"
                f" {blocks} are needed"
            )

    def _drop_rest(self, room: int) -> bool:
        """Drop all that the catalogue does not need; whether there is more room now."""
        extents = extents_of(self._log.live_runs(), self._size, self._stream.zone_size)
        blocks = sum(extent.blocks for extent in extents)
        self._stream.drop_all_but([self._stream.stored_at(extents, (blocks,), "u1")] if extents else [])
        return sum(filter(None, self._stream.rooms())) > room

    def _move_one(self, zones: dict[int, int], index: int, fits: bool, unmovable: set[int]) -> bool:
        """Empty the zone with the most to gain; whether there was one."""
        live, capacity = self._log.live, self._stream.zone_capacity

        def gain(zone: int) -> int:
            """Blocks that are free afterwards and were not; if the live ones do not fit, of the latter."""
            packed = -(-live.nbytes(zone) // self._size)
            return (capacity - zones[zone] if fits else live.blocks(zone)) - packed

        for zone in sorted(zones.keys() - unmovable, key=gain, reverse=True):
            if gain(zone) <= 0:
                return False
            runs = self._runs_in(zone)
            layout = PageLayout(self._size)
            places = offsets([run.nbytes for *_, run in runs], layout)
            real = (capacity - zones[zone] if fits else live.blocks(zone)) - layout.blocks
            room = sum(zones.values()) - zones[zone]
            if real <= (index if fits else 0) or layout.blocks + index > room:
                continue
            try:
                self._move(zone, zones[zone], runs, places, layout)
            except MediaError:
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
        self._drop_rest(0)

    def _read(self, runs: list[Run], places: list[int]) -> list[Part]:
        nbytes = sum(run.nbytes for run in runs)
        generation = self._stream.stored_at((), (0,), "u1").generation
        data = RangesRead(self._stream, runs, generation, [(0, nbytes)], 0, nbytes).result()
        parts, start = [], 0
        for run, place in zip(runs, places, strict=True):
            parts.append(Part(place, data[start : start + run.nbytes]))
            start += run.nbytes
        return parts
