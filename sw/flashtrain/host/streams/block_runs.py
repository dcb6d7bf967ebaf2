"""A set of blocks, kept as runs of consecutive ones."""

from bisect import bisect_right


class BlockRuns:
    """A set of block numbers, as sorted runs that neither overlap nor touch."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.count = 0
        """Blocks in the set."""

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The runs in ascending order, each from its first block to behind its last."""
        return list(zip(self._starts, self._ends, strict=True))

    def overlaps(self, start: int, end: int) -> bool:
        """Whether one of the blocks from `start` to `end - 1` is in the set."""
        after = bisect_right(self._starts, start)
        before_reaches = after > 0 and self._ends[after - 1] > start
        return before_reaches or (after < len(self._starts) and self._starts[after] < end)

    def gaps(self, end: int) -> list[tuple[int, int]]:
        """Runs of the blocks below `end` that are not in the set, each from its first to behind its last."""
        edges = zip([0, *self._ends], [*self._starts, end], strict=True)
        return [(start, min(stop, end)) for start, stop in edges if start < min(stop, end)]

    def add(self, start: int, end: int) -> None:
        """Add the blocks from `start` to `end - 1`, whether or not some are in the set."""
        first = bisect_right(self._ends, start - 1)  # the first run that is not entirely in front
        last = bisect_right(self._starts, end)
        joined = range(first, last)
        self.count -= sum(self._ends[run] - self._starts[run] for run in joined)
        if joined:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]
        self.count += end - start
