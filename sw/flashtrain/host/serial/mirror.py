"""The host's copy of the tensor buffer of a board, and what differs from the board's."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.serial import GRAIN_BYTES, MOST_DATA, WORD_BYTES

_MOST_WORDS = MOST_DATA // WORD_BYTES
_GAP = 2
"""Equal words between two runs of changed ones that are sent with them: less than the frame of a run."""
_FILLED = 4
"""Equal words in a row that one FILL replaces: fewer cost less as data."""


class Piece(NamedTuple):
    """Words that the board lacks, from byte `address`. `data`: all of them, or one that all are."""

    address: int
    words: int
    data: bytes


class Mirror:
    """Two copies: `memory`, which the host reads and writes, and the board's as far as known."""

    def __init__(self, size: int) -> None:
        self.memory: NDArray[np.uint8] = np.zeros(size, np.uint8)
        self._theirs = np.zeros(size, np.uint8)
        self._words = self.memory.view(np.uint64)
        self._their_words = self._theirs.view(np.uint64)

    def clear(self) -> None:
        """The board has zeros, and so has the host."""
        self.memory[:] = 0
        self._theirs[:] = 0

    def unsent(self) -> Iterator[Piece]:
        """Words that the host has written since the last call. The board must then get them."""
        changed = np.flatnonzero(self._words != self._their_words)
        if not len(changed):
            return
        breaks = np.flatnonzero(np.diff(changed) > _GAP + 1) + 1
        for run in np.split(changed, breaks):
            yield from self._pieces(int(run[0]), int(run[-1]) + 1)

    def _pieces(self, first: int, end: int) -> Iterator[Piece]:
        """The words from `first` to before `end`: fills for runs of one value, and the rest as it is."""
        words = self._words[first:end].copy()
        edges = np.flatnonzero(np.diff(words)) + 1
        starts = [0, *edges.tolist()]
        begun = 0
        for start, stop in zip(starts, [*starts[1:], len(words)], strict=True):
            if stop - start < _FILLED:
                continue
            yield from self._stores(words, first, begun, start)
            yield Piece(WORD_BYTES * (first + start), stop - start, words[start].tobytes())
            begun = stop
        yield from self._stores(words, first, begun, len(words))
        self._their_words[first:end] = words

    @staticmethod
    def _stores(words: NDArray[np.uint64], first: int, begun: int, end: int) -> Iterator[Piece]:
        for start in range(begun, end, _MOST_WORDS):
            part = words[start : min(start + _MOST_WORDS, end)]
            yield Piece(WORD_BYTES * (first + start), len(part), part.tobytes())

    @staticmethod
    def grain_runs(changes: bytes) -> Iterator[tuple[int, int]]:
        """Address and bytes of each run of changed grains that an answer has room for."""
        bits = np.unpackbits(np.frombuffer(changes, np.uint8), bitorder="little")
        grains = np.flatnonzero(bits)
        if not len(grains):
            return
        most = MOST_DATA // GRAIN_BYTES
        for run in np.split(grains, np.flatnonzero(np.diff(grains) > 1) + 1):
            for start in range(int(run[0]), int(run[-1]) + 1, most):
                yield GRAIN_BYTES * start, GRAIN_BYTES * min(most, int(run[-1]) + 1 - start)

    def take(self, address: int, content: bytes) -> None:
        """Take the board's bytes from `address` on. The host gets the bytes that the board has changed."""
        place = slice(address, address + len(content))
        new = np.frombuffer(content, np.uint8)
        changed = new != self._theirs[place]
        self.memory[place][changed] = new[changed]
        self._theirs[place] = new
