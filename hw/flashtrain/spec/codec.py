"""The window code: pages of a coded stream, losslessly smaller where exponents are alike.

**Primer.** The numbers of a tensor share most of their exponents: six neighbouring ones cover over 90 % of
an activation. Each element becomes a *class* of three bits and a *payload*. The class names an exponent of
a *window* of consecutive ones, so the payload is sign and mantissa only. Positive zero has a class of its
own and no payload. An element outside the window *escapes*: its payload is the whole element. Every bit
pattern survives.

**Slices.** A slice is `SLICE_BYTES` of elements as they are stored, little endian: 16 of BF16 or 8 of FP32.
An append is a sequence of slices. User data are whole logical blocks, hence whole slices.

**Pages.** A stored page decodes alone, whatever the order in which pages arrive:

    byte 0       HEADER_BYTES                                              payload_end(page_bytes)
    | PageHeader  | planes of slice 0, slice 1, ... ->   zeros   <- payload byte 1, payload byte 0 | check |

Planes have a fixed stride, `plane_bytes` a slice. Payload byte i of the page is at `payload_end - 1 - i`. So
an encoder closes a page without a shift, and a decoder finds both beginnings without a search. A page holds
as many slices as fit: another slice goes in while `fits` holds. A page has at least one slice.

**Planes of a slice.** In the window modes three bit planes of 1 bit per element, plane k first to last. Bit
i of plane k is bit k of the class of element i; bits count from the low one of the first byte. In `MASK` it
is one such plane of 1 bit, 0 for +0.0. In `RAW` there is none.

**Payload of a slice.** An element is rearranged to `exponent, sign, mantissa` from high to low, so its
exponent is its last byte. A payload without exponent is the bytes before: 1 of BF16, 3 of FP32. A whole
element is all its bytes, in every mode. Payloads follow each other in the order of the elements, low byte
first.

**Classes.** The distance of an element is `(base - exponent) mod 256`, in 8 bits. See `Mode`.

**Choice of mode and base.** `Tracker`, from samples of the slices before the page. **Worst case.** `Budget`
and `bound`.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self
from zlib import crc32

from .errors import require
from .nvme import BitField
from .streams import Codec

SLICE_BYTES = 32
HEADER_BYTES = 16
CHECK_BYTES = 4
"""The last bytes of a page: `page_check` of the others, little endian."""

PAGE_SIZES = (512, 4096, 16384)
EXPONENT_BITS = 8
"""Of BF16 and FP32 alike."""


class Mode(IntEnum):
    """The code of a page's elements."""

    RAW = 0  # no planes; each payload is a whole element
    MASK = 1  # bit 0: +0.0, no payload; bit 1: a whole element
    WINDOW = 2  # class 0: +0.0; classes 1 to 6: distances 0 to 5; class 7: a whole element
    WINDOW7 = 3  # classes 0 to 6: distances 0 to 6; class 7: a whole element

    @property
    def plane_bits(self) -> int:
        """Planes of a slice; each has a bit per element."""
        return (0, 1, 3, 3)[self]

    @property
    def exponents(self) -> int:
        """Exponents in the window."""
        return (0, 0, 6, 7)[self]

    @property
    def zero_class(self) -> bool:
        """Whether +0.0 has a class of its own."""
        return self in (Mode.MASK, Mode.WINDOW)


ESCAPE = 7
"""The class of a whole element in both window modes."""

CODED = (Codec.WINDOW16, Codec.WINDOW32, Codec.ROUND16)
"""Codecs whose pages have a `PageHeader`."""


def element_bytes(codec: Codec) -> int:
    """Bytes of a stored element."""
    return 4 if codec is Codec.WINDOW32 else 2


def slice_elements(codec: Codec) -> int:
    """Elements of a slice."""
    return SLICE_BYTES // element_bytes(codec)


def plane_bytes(codec: Codec, mode: Mode) -> int:
    """Bytes of the planes of a slice: the stride of planes in a page."""
    return slice_elements(codec) * mode.plane_bits // 8


def slice_user_bytes(codec: Codec) -> int:
    """Bytes of user data in a slice."""
    return 2 * SLICE_BYTES if codec is Codec.ROUND16 else SLICE_BYTES


def payload_end(page_bytes: int) -> int:
    """The byte behind the first one of the payload, which lies backwards."""
    return page_bytes - CHECK_BYTES


def page_check(page: bytes) -> int:
    """The check of a page without its last bytes: CRC-32 (IEEE 802.3, clause 3.2.9)."""
    return crc32(page)


def fits(page_bytes: int, codec: Codec, mode: Mode, slices: int, payload: int) -> bool:
    """Whether a page of `mode` holds so many slices with so many bytes of payload together."""
    return HEADER_BYTES + slices * plane_bytes(codec, mode) + payload <= payload_end(page_bytes)


def least_slices(page_bytes: int, codec: Codec, mode: Mode) -> int:
    """Slices of a page of `mode` all of whose elements are whole."""
    return (payload_end(page_bytes) - HEADER_BYTES) // (SLICE_BYTES + plane_bytes(codec, mode))


class PageHeader:
    """Fields of the header of a coded page."""

    BYTES = HEADER_BYTES
    magic = BitField(0, 8)  # A7h
    version = BitField(8, 4)  # 1
    codec = BitField(12, 4)  # Codec
    mode = BitField(16, 2)  # Mode
    last = BitField(18, 1)  # the last page of its append
    reserved = BitField(19, 5)  # 0
    base = BitField(24, 8)  # the highest exponent of the window
    first = BitField(32, 32)  # the index of the page's first slice within the append
    total = BitField(64, 32)  # slices of the append, in its last page; 0 in the others
    slices = BitField(96, 16)  # of the page
    reserved_high = BitField(112, 16)  # 0

    MAGIC = 0xA7
    VERSION = 1


class Refusal(IntEnum):
    """Reasons not to decode a page, in the order of the checks."""

    MAGIC = 1  # no coded page: magic, version or reserved bits are others
    CHECK = 2  # the check of the page is wrong
    CODEC = 3  # another codec than that of the stream
    SLICES = 4  # no slice, or slices outside the append, or a total that is not theirs
    OVERLAP = 5  # planes and payload of the slices do not fit the page


@dataclass(frozen=True)
class Choice:
    """The mode of a page and its base."""

    mode: Mode
    base: int


@dataclass(frozen=True)
class Header:
    """The content of a page's header."""

    codec: Codec
    choice: Choice
    slices: int
    first: int
    last: bool = False
    total: int = 0

    def pack(self) -> bytes:
        h = PageHeader
        value = (
            h.magic.put(h.MAGIC) | h.version.put(h.VERSION) | h.codec.put(self.codec)
            | h.mode.put(self.choice.mode) | h.last.put(self.last) | h.base.put(self.choice.base)
            | h.first.put(self.first) | h.total.put(self.total) | h.slices.put(self.slices)
        )  # fmt: skip
        return value.to_bytes(h.BYTES, "little")

    @classmethod
    def unpack(cls, page: bytes, codec: Codec, end: int) -> "Self | Refusal":
        """The header of a whole page of a stream with this codec, or why the page is refused.

        end: slices of the append; no page goes beyond. `Refusal.OVERLAP` is for whoever adds up the payload.
        """
        h = PageHeader
        value = int.from_bytes(page[: h.BYTES], "little")
        constant = (h.magic, h.version, h.reserved, h.reserved_high)
        if tuple(field.get(value) for field in constant) != (h.MAGIC, h.VERSION, 0, 0):
            return Refusal.MAGIC
        if page_check(page[:-CHECK_BYTES]) != int.from_bytes(page[-CHECK_BYTES:], "little"):
            return Refusal.CHECK
        if h.codec.get(value) != codec:
            return Refusal.CODEC
        first, slices = h.first.get(value), h.slices.get(value)
        last, total = bool(h.last.get(value)), h.total.get(value)
        if not slices or first + slices > end or total != (end if last else 0):
            return Refusal.SLICES
        if last != (first + slices == end):
            return Refusal.SLICES
        return cls(codec, Choice(Mode(h.mode.get(value)), h.base.get(value)), slices, first, last, total)

    def stands_at(self, index: int, pages: int) -> bool:
        """Whether this can be page `index` of an append of `pages`: only its ends begin and end it.

        Pages of an append are stored one behind the other. So a sequence of stored pages that all stand at
        their places is one append.
        """
        return (self.first == 0) == (index == 0) and self.last == (index == pages - 1)


# The choice of mode and base.

FIRST_CHOICE = Choice(Mode.WINDOW, 128)
"""Of the first page of an append: exponents of 2 to 4 and the five below, where normalised tensors lie."""

BLOCK = 44
"""Slices after which the choice is made again, counted from the first slice of an append."""

SAMPLED = (28, 33, 38, 43)
"""Slices of a block whose elements are counted: one of four in a row. With eleven times four slices a block,
they reach every place of data that repeat after a power of two."""

DELAY = SAMPLED[0]
"""Slices after the end of a block in which hardware computes its choice: seven cycles at four slices each."""


def slices_per_cycle(port_bytes: int) -> int:
    """Slices that an encoder takes per cycle: one as long as the port brings no more, or else four."""
    return 1 if port_bytes <= SLICE_BYTES else 4


MEMORY = 4
"""The sums of counters are those of `1 << MEMORY` blocks: each block, the sums lose that part of them."""

FRACTION = 2
"""Bits of the sums below one element, so that their loss is not rounded too much."""

DISTANCES = range(-1, Mode.WINDOW7.exponents + 1)
"""Signed distances with a counter each: the window, and the exponents beside it."""

MIDDLE = 2
"""Distance of the exponent that a window jumps to."""


@dataclass(frozen=True)
class Counters:
    """Counters of the sampled elements of a block, or their sums.

    - zeros: elements that are +0.0.
    - at: for each of `DISTANCES` the elements at it that are not +0.0.
    """

    zeros: int
    at: tuple[int, ...]

    def within(self, shift: int, exponents: int) -> int:
        """Elements in a window of so many exponents whose base is higher by 1, 0 or -1."""
        start = -DISTANCES.start - shift
        return sum(self.at[start : start + exponents])

    def moved(self, shift: int) -> "Counters":
        """The same elements relative to a base that is higher by 1, 0 or -1; unknown counts are 0."""
        at = (0, *self.at, 0)
        return Counters(self.zeros, at[1 - shift : len(at) - 1 - shift])


@dataclass(frozen=True)
class Tracker:
    """The choice of mode and base, from the slices of an append so far.

    The choice is `FIRST_CHOICE` before the first block. A page that begins at slice s has the choice after
    `max(0, s - DELAY) // BLOCK` blocks. A block's counters are relative to the base of the choice before it.

    - The base moves by one exponent if 1/64 of the elements gains by it: down rather than up in a tie.
    - It jumps to a recent exponent if more elements are outside `DISTANCES` than at them, and 1/32 of all.
    - The mode changes if another saves 1/32 bit per element more: to the higher one in a tie.

    So a tensor whose numbers are alike keeps its choice. The base has no effect on pages of `RAW` and `MASK`.
    """

    codec: Codec
    choice: Choice = FIRST_CHOICE
    sums: Counters | None = None

    @property
    def elements(self) -> int:
        """The sum of all counters, if each element had one."""
        return len(SAMPLED) * slice_elements(self.codec) << MEMORY + FRACTION

    def after(self, block: Counters, recent: int) -> "Tracker":
        """The tracker after a block; `recent` is the exponent of the last sampled element not +0.0 so far."""
        sums = self._summed(block)
        outside = self.elements - sums.zeros - sum(sums.at)
        if outside > sum(sums.at) and outside > self.elements // 32:
            return Tracker(self.codec, Choice(self._mode(sums), (recent + MIDDLE) % 256))
        if shift := self._shift(sums):
            sums = sums.moved(shift)
        choice = Choice(self._mode(sums), (self.choice.base + shift) % 256)
        return Tracker(self.codec, choice, sums)

    def savings(self, sums: Counters) -> dict[Mode, int]:
        """Bits that each mode saves on `elements`, compared with `RAW`."""
        zeros = 8 * element_bytes(self.codec) * sums.zeros
        elements = self.elements
        return {
            Mode.RAW: 0,
            Mode.MASK: zeros - elements,
            Mode.WINDOW: zeros + EXPONENT_BITS * sums.within(0, Mode.WINDOW.exponents) - 3 * elements,
            Mode.WINDOW7: EXPONENT_BITS * sums.within(0, Mode.WINDOW7.exponents) - 3 * elements,
        }

    def _summed(self, block: Counters) -> Counters:
        """The sums with a block; the first one counts for all that came before."""
        if self.sums is None:
            at = tuple([count << MEMORY + FRACTION for count in block.at])
            return Counters(block.zeros << MEMORY + FRACTION, at)
        at = zip(self.sums.at, block.at, strict=True)
        return Counters(
            _decayed(self.sums.zeros) + (block.zeros << FRACTION),
            tuple([_decayed(old) + (new << FRACTION) for old, new in at]),
        )

    def _shift(self, sums: Counters) -> int:
        inside = {shift: sums.within(shift, Mode.WINDOW.exponents) for shift in (0, -1, 1)}
        best = max(inside, key=inside.__getitem__)
        return best if inside[best] > inside[0] + self.elements // 64 else 0

    def _mode(self, sums: Counters) -> Mode:
        savings = self.savings(sums)
        best = max(reversed(Mode), key=savings.__getitem__)
        return best if savings[best] > savings[self.choice.mode] + self.elements // 32 else self.choice.mode


def _decayed(count: int) -> int:
    """Rounded down, so that it reaches 0."""
    return count - (count + (1 << MEMORY) - 1 >> MEMORY)


# The worst case.


@dataclass(frozen=True)
class Budget:
    """Slices that an append may still lose to pages that hold fewer slices than one of `RAW`.

    A page has the mode of its choice only if `allows` it, and `RAW` otherwise. So `bound` holds for all
    data, also for data that mislead the choice at every page.
    """

    page_bytes: int
    codec: Codec
    credit: int

    @classmethod
    def start(cls, page_bytes: int, codec: Codec) -> Self:
        return cls(page_bytes, codec, page_bytes // SLICE_BYTES // 2)

    def allows(self, mode: Mode) -> bool:
        raw = least_slices(self.page_bytes, self.codec, Mode.RAW)
        return self.credit >= raw - least_slices(self.page_bytes, self.codec, mode)

    def after(self, slices: int) -> "Budget":
        """The budget after a page that is full with so many slices; it saturates at the slices of a page."""
        most = self.page_bytes // SLICE_BYTES
        raw = least_slices(self.page_bytes, self.codec, Mode.RAW)
        return replace(self, credit=min(most, self.credit + slices - raw))


def bound(blocks: int, codec: Codec, page_bytes: int) -> int:
    """Stored blocks that an append of so many logical blocks takes at most, whatever its data.

    With N slices in `page_bytes`, a page of `RAW` holds N - 1. `Budget` allows N / 2 slices more. So an
    append takes at most `ceil((N * blocks + N / 2) / (N - 1))`. The sum below is never less and needs no
    division.
    """
    require(blocks >= 1, "blocks", blocks, "at least one block")
    if codec is Codec.RAW:
        return blocks
    if codec is Codec.ROUND16:
        blocks = -(-blocks // 2)
    return blocks + (blocks >> bound_shift(page_bytes)) + 1


def bound_shift(page_bytes: int) -> int:
    """log2 of the blocks for each of which `bound` has one more."""
    return (page_bytes // SLICE_BYTES // 2).bit_length() - 1
