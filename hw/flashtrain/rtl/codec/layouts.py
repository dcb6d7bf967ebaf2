"""Structs of the window code's units, and the constants of a page size."""

from dataclasses import dataclass
from typing import Any

from amaranth.lib import data

from flashtrain.rtl.layouts import CODEC_BITS
from flashtrain.spec.codec import (
    CHECK_BYTES,
    FIRST_CHOICE,
    HEADER_BYTES,
    SLICE_BYTES,
    Budget,
    Mode,
    least_slices,
    plane_bytes,
    slices_per_cycle,
)
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

LINE_BYTES = 4 * SLICE_BYTES
"""A line of a page is the unit of the memories of a decoder lane."""

LANES = SLICE_BYTES // 2
"""Halfwords of a slice: elements of BF16; an element of FP32 takes two."""

STRIDE_BITS = 3
BLOCKS_BITS = 16
SLICE_BITS = 26
"""Of the index of a slice in its append: 65,535 blocks of 16 KiB."""

CLASSES = data.ArrayLayout(3, LANES)
"""Classes of a slice, at the halfword with the exponent: all of BF16, the odd ones of FP32."""


class ChoiceLayout(data.StructLayout):
    """Mode and base of a page."""

    def __init__(self):
        super().__init__({"mode": Mode, "base": 8})


FIRST: Any = {"mode": FIRST_CHOICE.mode, "base": FIRST_CHOICE.base}
"""`FIRST_CHOICE`, for signals of a `ChoiceLayout`."""


class JobLayout(data.StructLayout):
    """An append: the codec of its stream, and its logical blocks."""

    def __init__(self):
        super().__init__({"codec": CODEC_BITS, "blocks": BLOCKS_BITS})


@dataclass(frozen=True)
class PageShape:
    """Constants of pages of so many bytes, in lines of so many."""

    page_bytes: int
    line_bytes: int = LINE_BYTES

    def __post_init__(self) -> None:
        require(self.page_bytes % LINE_BYTES == 0 and self.page_bytes >= 4 * LINE_BYTES, "page_bytes",
                self.page_bytes, f"a multiple of {LINE_BYTES}, at least four of them")  # fmt: skip

    @property
    def offset_bits(self) -> int:
        """Of an offset in a page, its end included."""
        return bits_for(self.page_bytes + 1)

    @property
    def lines(self) -> int:
        return self.page_bytes // self.line_bytes

    @property
    def line_bits(self) -> int:
        return bits_for(self.lines)

    @property
    def capacity(self) -> int:
        """Bytes of planes and payload."""
        return self.page_bytes - HEADER_BYTES - CHECK_BYTES

    @property
    def start_credit(self) -> int:
        """Slices that an append may lose at first."""
        return Budget.start(self.page_bytes, Codec.WINDOW16).credit

    def stride(self, wide: bool, mode: Mode) -> int:
        """Bytes of planes of a slice, of FP32 or BF16."""
        return plane_bytes(_codec(wide), mode)

    def lost_slices(self, wide: bool, mode: Mode) -> int:
        """Slices that a page of this mode holds less than one of `RAW`, at worst."""
        least = [least_slices(self.page_bytes, _codec(wide), one) for one in (Mode.RAW, mode)]
        return least[0] - least[1]


@dataclass(frozen=True)
class EncoderShape:
    """Constants of an encoder of pages of so many bytes, on a port of so many.

    A group of slices is what it takes per cycle. Its ring holds 128 slices. A line of a page is the unit of
    its memories. It has the bytes of a group, but two rows at least: the last planes of an append may reach
    into a second one.
    """

    page_bytes: int
    port_bytes: int

    def __post_init__(self) -> None:
        require(4 <= self.port_bytes <= LINE_BYTES and LINE_BYTES % self.port_bytes == 0, "port_bytes",
                self.port_bytes, f"a divisor of {LINE_BYTES}, at least 4")  # fmt: skip

    @property
    def slices(self) -> int:
        """Of a group."""
        return slices_per_cycle(self.port_bytes)

    @property
    def slice_bits(self) -> int:
        """Of the number of a slice in its group."""
        return bits_for(self.slices)

    @property
    def group_bytes(self) -> int:
        return self.slices * SLICE_BYTES

    @property
    def groups(self) -> int:
        """In the ring."""
        return 128 // self.slices

    @property
    def index_bits(self) -> int:
        """Of a group in the ring. Pointers have a bit more."""
        return bits_for(self.groups)

    @property
    def rows(self) -> int:
        """Rows of a slice in a line."""
        return max(2, self.slices)

    @property
    def row_bits(self) -> int:
        return bits_for(self.rows)

    @property
    def page(self) -> PageShape:
        return PageShape(self.page_bytes, self.rows * SLICE_BYTES)

    @property
    def classes(self) -> data.ArrayLayout:
        """Classes of a group."""
        return data.ArrayLayout(CLASSES, self.slices)


def _codec(wide: bool) -> Codec:
    return Codec.WINDOW32 if wide else Codec.WINDOW16
