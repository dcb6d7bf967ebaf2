"""First-fit allocation of runs of logical blocks."""

from bisect import insort


class BlockAllocator:
    """Hands out runs of the blocks `first` to `first + count - 1`, lowest address first."""

    def __init__(self, first: int, count: int) -> None:
        self._free = [(first, count)] if count else []  # (start, length), by start; never adjacent

    @property
    def free(self) -> int:
        """Blocks that are free."""
        return sum(length for _, length in self._free)

    @property
    def largest(self) -> int:
        """Blocks of the longest free run."""
        return max((length for _, length in self._free), default=0)

    def take(self, count: int) -> int | None:
        """The first block of a run of `count`, or None when no free run is that long."""
        for i, (start, length) in enumerate(self._free):
            if length >= count:
                self._free[i : i + 1] = [(start + count, length - count)] if length > count else []
                return start
        return None

    def give_back(self, start: int, count: int) -> None:
        """Free a run that :meth:`take` gave, and join it with its free neighbours."""
        insort(self._free, (start, count))
        i = self._free.index((start, count))
        if i + 1 < len(self._free) and start + count == self._free[i + 1][0]:
            self._free[i : i + 2] = [(start, count + self._free[i + 1][1])]
        if i > 0 and sum(self._free[i - 1]) == start:
            before, length = self._free[i - 1]
            self._free[i - 1 : i + 1] = [(before, length + self._free[i][1])]
