"""How much of each zone a catalogue needs."""

from collections import Counter
from collections.abc import Iterable

from .run import Run


class LiveBlocks:
    """The blocks and bytes of each zone that runs lie in; a block with parts of several runs counts once."""

    def __init__(self, block_bytes: int, zone_size: int) -> None:
        self._block_bytes = block_bytes
        self._zone_size = zone_size
        self._sharers: Counter[int] = Counter()  # runs with a part of a block, by block
        self._blocks: Counter[int] = Counter()
        self._nbytes: Counter[int] = Counter()

    def blocks(self, zone: int) -> int:
        return self._blocks[zone]

    def nbytes(self, zone: int) -> int:
        return self._nbytes[zone]

    def add(self, runs: Iterable[Run]) -> None:
        for run in runs:
            zone = self._count(run, 1)
            for block in self._partial(run):
                self._blocks[zone] += not self._sharers[block]
                self._sharers[block] += 1

    def remove(self, runs: Iterable[Run]) -> None:
        for run in runs:
            zone = self._count(run, -1)
            for block in self._partial(run):
                self._sharers[block] -= 1
                if not self._sharers[block]:
                    del self._sharers[block]
                    self._blocks[zone] -= 1

    def _count(self, run: Run, sign: int) -> int:
        """Count the bytes and the whole blocks of a run; returns its zone."""
        zone = run.address // self._block_bytes // self._zone_size
        whole = run.end // self._block_bytes - -(-run.address // self._block_bytes)
        self._nbytes[zone] += sign * run.nbytes
        self._blocks[zone] += sign * max(0, whole)
        return zone

    def _partial(self, run: Run) -> set[int]:
        """The blocks of which a run has a part."""
        first, last = run.address // self._block_bytes, (run.end - 1) // self._block_bytes
        begins, ends = run.address % self._block_bytes, run.end % self._block_bytes
        return ({first} if begins else set()) | ({last} if ends else set())
