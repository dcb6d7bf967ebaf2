"""Blocks that their maker has marked as bad.

A block is taken for one if it looks marked (`flashtrain.spec.bad_blocks`) *and* no page of it has an
identity. So a mistake costs a spare and never data: what has no identity is returned to nobody.

Marks are never written over, so they are found again whenever somebody looks. They are read as the cells hold
them: a code would take the eight zeros of the smallest mark for wrong bits of an erased page.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from flashtrain.spec import FmsConfig
from flashtrain.spec.bad_blocks import is_mark, marked_pages, ones_of_ours

from .inspection import Inspector, Span

Block = tuple[int, int]
"""Number of a block, and its column (offset of its first page)."""


class BadBlock(NamedTuple):
    """A block that its maker has marked, and the number of the one that lies in its place.

    replacement: None of a spare, which is not used, and where there is no spare left: then nothing is
    appended to the physical zone any more.
    """

    channel: int
    die: int
    plane: int
    block: int
    replacement: int | None


class MarkReader:
    """Finds marks. `raw` lets pages be inspected as the cells hold them, or no longer."""

    def __init__(self, inspector: Inspector, config: FmsConfig, raw: Callable[[bool], None]) -> None:
        self._inspector = inspector
        self._geometry = config.geometry
        self._randomizer = config.randomizer
        self._raw = raw

    def marked(self, silent: Iterable[Block]) -> list[Block]:
        """Those of these blocks that are bad. silent: all in whose first page no identity was found."""
        g, silent = self._geometry, sorted(silent)
        numbers = sorted({block for block, _ in silent})
        starts = [row * g.superpage for row in marked_pages(g.pages)]
        rows = [Span(block, start, g.superpage) for block in numbers for start in starts]
        ours = {
            start: [
                ones_of_ours(g, g.place(start + column), self._randomizer) for column in range(g.superpage)
            ]
            for start in starts
        }
        self._raw(True)
        records = self._inspector.records(rows)
        self._raw(False)
        looks_marked = {
            (span.physical, column)
            for span, bytes_of in records
            for column in range(g.superpage)
            if is_mark(bytes_of[column].tobytes(), ours[span.offset][column])
        }
        return [block for block in silent if block in looks_marked and not self._has_identity(block)]

    def _has_identity(self, block: Block) -> bool:
        g, (number, column) = self._geometry, block
        pages = self._inspector.identities(
            Span(number, row * g.superpage + column, 1) for row in range(g.pages)
        )
        return any(bool(ids.valid[0]) for ids in pages)
