"""The places of arrays on the pages of an append."""

from bisect import bisect_left, insort
from collections.abc import Sequence

ALIGNMENT = 8
"""Bytes; arrays begin at multiples of it."""


class PageLayout:
    """Places of pieces in whole pages: a piece begins a page, or lies behind others within one page.

    So a piece of up to a page is read as one page. Best results come from placing the longest piece first.

    blocks: pages that are in use so far.
    """

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._free: list[tuple[int, int]] = []  # bytes at the end of a page, and where they begin
        self.blocks = 0

    def place(self, nbytes: int, apart: range = range(0)) -> int:
        """The offset of a piece, in the page with the least room that suffices, and in none of `apart`."""
        at = bisect_left(self._free, (nbytes, 0))
        while at < len(self._free) and self._free[at][1] // self._block_bytes in apart:
            at += 1
        if at < len(self._free):
            free, offset = self._free.pop(at)
        else:
            blocks = -(-nbytes // self._block_bytes)
            free, offset = blocks * self._block_bytes, self.blocks * self._block_bytes
            self.blocks += blocks
        padded = -(-nbytes // ALIGNMENT) * ALIGNMENT
        if padded < free:
            insort(self._free, (free - padded, offset + padded))
        return offset


def offsets(sizes: Sequence[int], layout: PageLayout) -> list[int]:
    """The offsets of pieces of these sizes, all above 0."""
    found = [0] * len(sizes)
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        found[index] = layout.place(sizes[index])
    return found
