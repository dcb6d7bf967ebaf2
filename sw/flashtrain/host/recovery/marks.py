"""Factory marks of bad blocks.

A block counts as marked if it has the bytes of a mark (`flashtrain.spec.bad_blocks`) *and* no page with an
identity. A mistake therefore costs a spare and never data: pages without an identity are never returned.

Marked blocks are never erased, so every recovery finds the marks again. Marks are read as the cells hold
them. A code would correct the eight zeros of the smallest mark as wrong bits of an erased page.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from flashtrain.spec import FmsConfig
from flashtrain.spec.bad_blocks import is_mark, marked_pages, ones_of_ours

from .inspection import Inspector, Span

Block = tuple[int, int]
"""Number of a block, and its column (offset of its first page)."""


class BadBlock(NamedTuple):
    """A block with a factory mark, and the number of the spare that replaces it.

    replacement: None for a marked spare, which is never used. It is also None if no spare is left; the
    physical zone then takes no more appends.
    """

    channel: int
    die: int
    plane: int
    block: int
    replacement: int | None


class MarkReader:
    """Finds factory marks. `raw` selects whether INSPECT returns pages as the cells hold them."""

    def __init__(self, inspector: Inspector, config: FmsConfig, raw: Callable[[bool], None]) -> None:
        self._inspector = inspector
        self._geometry = config.geometry
        self._randomizer = config.randomizer
        self._raw = raw

    def marked(self, silent: Iterable[Block]) -> list[Block]:
        """The marked blocks among `silent`, the blocks without an identity in their first page."""
        g, silent = self._geometry, sorted(silent)
        numbers = sorted({block for block, _ in silent})
        starts = [page * g.superpage for page in marked_pages(g.pages)]
        spans = [Span(block, start, g.superpage) for block in numbers for start in starts]
        ours = {
            start: [
                ones_of_ours(g, g.place(start + column), self._randomizer) for column in range(g.superpage)
            ]
            for start in starts
        }
        self._raw(True)
        records = self._inspector.records(spans)
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
            Span(number, page * g.superpage + column, 1) for page in range(g.pages)
        )
        return any(bool(ids.valid[0]) for ids in pages)
