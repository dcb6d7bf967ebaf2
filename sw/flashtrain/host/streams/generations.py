"""Generations of the content of streams, which show whether a handle is stale."""

from collections.abc import Callable, Mapping

from flashtrain.spec import Opcode, Submission, ZoneAction
from flashtrain.spec.nvme import GenerationAction

from .block_runs import BlockRuns

_KEPT = 16
"""Drops that are kept per zone; more than one matters only if the device refuses the last ones."""

_NONE = BlockRuns()


class StreamGenerations:
    """Generations of the content of one stream, counted by the driver.

    A *drop* is a reset of a zone or of the stream, a format, or a loss of power that the content does not
    survive. Each drop gets the next number, which is the generation of later appends. An append is intact as
    long as its zone has no drop with a higher number.

    Data that their user has dropped are *dead*: gone for the user, and in their zone until its next drop. A
    release of the whole stream is a number as a drop is, after which no earlier append is intact.
    """

    def __init__(self) -> None:
        self._generation = 0
        self._drops: dict[int, list[int]] = {}  # of single zones
        self._stream_drops: list[tuple[int, frozenset[int]]] = []  # and the zones that they spared
        self._released = 0  # the number of the last release
        self._dead: dict[int, tuple[int, BlockRuns]] = {}  # by zone, with its last drop
        self.retired: set[int] = set()
        self.pinned = False

    @property
    def generation(self) -> int:
        """The number of the last drop, which is the generation of appends from now on."""
        return self._generation

    @property
    def last_dropped(self) -> int:
        """The number of the last drop or release of the whole stream; 0 without one."""
        return max((*(number for number, _ in self._stream_drops), self._released))

    def drop(self, zone: int | None = None) -> int:
        """Note a drop of one zone, or of all zones except retired ones (None); returns its number."""
        self._generation += 1
        if zone is None:
            spared = frozenset(self.retired)
            self._stream_drops = [*self._stream_drops, (self._generation, spared)][-_KEPT:]
        else:
            self._drops[zone] = [*self._drops.get(zone, ()), self._generation][-_KEPT:]
        return self._generation

    def undo(self, drop: int) -> None:
        """Undo a drop whose command the device refused: the content is unchanged."""
        self._stream_drops = [one for one in self._stream_drops if one[0] != drop]
        for drops in self._drops.values():
            if drop in drops:
                drops.remove(drop)

    def holds(self, zone: int, generation: int) -> bool:
        """Whether data that were appended to a zone in a generation are still there."""
        return max(self.last_drop(zone), self._released) <= generation <= self._generation

    def release(self) -> None:
        """Make all earlier appends stale; their data stay until their zones are dropped."""
        self._generation += 1
        self._released = self._generation

    def kill(self, zone: int, start: int, end: int) -> None:
        """Note that the blocks of a zone from `start` to `end - 1`, counted from its first, are dead."""
        last = self.last_drop(zone)
        if zone not in self._dead or self._dead[zone][0] != last:
            self._dead[zone] = (last, BlockRuns())
        self._dead[zone][1].add(start, end)

    def dead(self, zone: int) -> BlockRuns:
        """The dead blocks of a zone, counted from its first."""
        last, runs = self._dead.get(zone, (0, _NONE))
        return runs if last == self.last_drop(zone) else _NONE

    def common(self, generations: Mapping[int, int]) -> int:
        """The generation of an array whose parts have these generations, by zone."""
        latest = max(generations.values())
        # A part that moved to another zone may be younger than a reset of that zone.
        dropped = any(
            g < max(self.last_drop(zone), self._released) <= latest for zone, g in generations.items()
        )
        return min(generations.values()) if dropped else latest

    def last_drop(self, zone: int) -> int:
        """The number of the last drop of the zone's content; 0 without one."""
        of_stream = (number for number, spared in self._stream_drops if zone not in spared)
        return max(*self._drops.get(zone, ()), *of_stream, 0, 0)


class DeviceGenerations:
    """Generations of all streams of the device behind one Link, by NSID.

    device: identity of the device, equal for every :class:`Device` on one Link or one image.
    """

    def __init__(
        self, device: str, generations: Callable[[int], StreamGenerations] = lambda nsid: StreamGenerations()
    ) -> None:
        self.device = device
        self._generations = generations
        self._streams: dict[int, StreamGenerations] = {}

    def stream(self, nsid: int) -> StreamGenerations:
        if nsid not in self._streams:
            self._streams[nsid] = self._generations(nsid)
        return self._streams[nsid]

    def note_raw(self, raw: bytes, zone_size: int) -> None:
        """Note the drops of a raw command, a 64-byte entry, that has succeeded."""
        s, entry = Submission, int.from_bytes(raw, "little")
        opcode, action, stream = s.opcode.get(entry), s.action.get(entry), self.stream(s.nsid.get(entry))
        if opcode == Opcode.STREAM_RESET:
            stream.drop()
        elif opcode == Opcode.ZONE_MANAGEMENT_SEND and action == ZoneAction.RESET:
            stream.drop(None if s.select_all.get(entry) else s.slba.get(entry) // zone_size)
        elif opcode == Opcode.GENERATION and action == GenerationAction.COMMIT:
            source = self.stream(s.source.get(entry))
            if not source.pinned:
                source.drop()
        elif opcode == Opcode.GENERATION and action != GenerationAction.ADVANCE:
            stream.pinned = action == GenerationAction.PIN

    def drop_all(self) -> None:
        """Note that the device was formatted."""
        for stream in self._streams.values():
            stream.retired.clear()
            stream.drop()
            stream.pinned = False
