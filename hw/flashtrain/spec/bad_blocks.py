"""Blocks that are bad from the factory, and how their makers mark them.

ONFI 5.1, "Factory Defect Mapping": the first byte behind the data of the first or the last page of such a
block is 00h; that of all others is FFh. The rest of the page is erased; or its maker has tried to write zeros
everywhere, and the bad block has taken some of them. Such a block is neither erased nor programmed, ever: it
may seem to work, and the mark, which is nowhere else, would be lost.

The mark is read from the bytes in the place of an identity (`spec.identity`), as the cells hold them: with
no key, and not corrected. The first byte of a mark is 00h, except for a wrong bit. An *interrupted* page of
ours, whose program or erase was cut short, may begin so, too. It has too few zeros and never one too many.
So one of two conditions must hold of the other bytes:

- `LEAST_ZEROS` of the bits that are ones in every page of ours in this place are zeros.
- Almost all bits are ones, or almost all are zeros. An interrupted page would have to keep the eight zeros of
  its first byte, and lose almost all of the others or almost none.
"""

from .geometry import Geometry, Place
from .identity import PageIdentity
from .randomizer import identity_key

MARK = 0x00
"""The first byte."""
MOST_WRONG_BITS = 1
"""In that byte."""
LEAST_ZEROS = 2
MOST_WRONG_OTHERS = 4
"""Of the other bytes, which are 120 bits."""

FACTORY_SHARE = 0.02
"""Of the blocks, that are bad at most. Data sheets guarantee as many good ones as leave this: 2,008 of 2,048
(Micron MT29F2G08, Samsung K9F2G08U0C)."""


def marked_pages(pages: int) -> tuple[int, int]:
    """Numbers of the pages of a block of so many that may have the mark."""
    return 0, pages - 1


def mark_content(geometry: Geometry, whole: bool) -> bytes:
    """The cells of a page with a mark, spare bytes included: all over the page, or only where it must be."""
    size = geometry.raw_page_bytes
    if whole:
        return bytes([MARK]) * size
    return bytes(MARK if i == geometry.page_bytes else 0xFF for i in range(size))


def ones_of_ours(geometry: Geometry, place: Place, randomizer: bool) -> int:
    """Bits that are ones in the cells of the identity of every page in this place."""
    p = PageIdentity
    known = {
        p.page: place.page,
        p.channel: place.channel,
        p.die: place.die,
        p.plane: place.plane,
        p.version: p.VERSION,
    }
    key = identity_key(geometry, place.page, place.plane) if randomizer else b""
    mask = sum(field.put((1 << field.width) - 1) for field in known)
    value = sum(field.put(number) for field, number in known.items())
    return (value ^ int.from_bytes(key, "little")) & mask


def is_mark(record: bytes, ours: int) -> bool:
    """Whether these bytes in the place of an identity are a mark. ours: see `ones_of_ours`."""
    ones = int.from_bytes(record[1:], "little").bit_count()
    zeros = 8 * len(record[1:]) - ones
    others = (ours & ~int.from_bytes(record, "little")).bit_count() >= LEAST_ZEROS
    uniform = min(zeros, ones) <= MOST_WRONG_OTHERS
    return (record[0] ^ MARK).bit_count() <= MOST_WRONG_BITS and (others or uniform)
