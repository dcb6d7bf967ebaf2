"""Blocks that are bad from the factory, and how their makers mark them.

ONFI 5.1, "Factory Defect Mapping": the first byte behind the data of the first or the last page of such a
block is 00h; that of all others is FFh. The rest of the page is erased, or the maker has written it all. Such
a block is neither erased nor programmed, ever: it may seem to work, and the mark, which is nowhere else,
would be gone.

What is looked at are the bytes in the place of an identity (`spec.identity`), as the cells hold them: with
no key, and not corrected. It is a mark if the first byte is 00h and the others are all FFh or all 00h, but
for some wrong bits. A page of ours that was torn while it was programmed or erased does not look so: half of
its bits are zeros, or were.
"""

MARK = 0x00
"""The first byte."""
MOST_WRONG_BITS = 1
"""In that byte."""
MOST_WRONG_OTHERS = 4
"""In the other bytes, which are 120 bits."""

FACTORY_SHARE = 0.02
"""Of the blocks, that are bad at most. Data sheets guarantee as many good ones as leave this: 2,008 of 2,048
(Micron MT29F2G08, Samsung K9F2G08U0C)."""


def marked_pages(pages: int) -> tuple[int, int]:
    """Numbers of the pages of a block of so many that may have the mark."""
    return 0, pages - 1


def is_mark(record: bytes) -> bool:
    """Whether these bytes in the place of an identity are a mark."""
    ones = int.from_bytes(record[1:], "little").bit_count()
    zeros = 8 * len(record[1:]) - ones
    return (record[0] ^ MARK).bit_count() <= MOST_WRONG_BITS and min(zeros, ones) <= MOST_WRONG_OTHERS
