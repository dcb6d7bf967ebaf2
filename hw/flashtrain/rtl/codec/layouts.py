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
)
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

GROUP_SLICES = 4
GROUP_BYTES = GROUP_SLICES * SLICE_BYTES
"""A group of slices is the unit of the encoder, and a line of a page the unit of its memories."""

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
    """Constants of pages of so many bytes."""

    page_bytes: int

    def __post_init__(self) -> None:
        require(self.page_bytes % GROUP_BYTES == 0 and self.page_bytes >= 4 * GROUP_BYTES, "page_bytes",
                self.page_bytes, f"a multiple of {GROUP_BYTES}, at least four of them")  # fmt: skip

    @property
    def offset_bits(self) -> int:
        """Of an offset in a page, its end included."""
        return bits_for(self.page_bytes + 1)

    @property
    def lines(self) -> int:
        return self.page_bytes // GROUP_BYTES

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


def _codec(wide: bool) -> Codec:
    return Codec.WINDOW32 if wide else Codec.WINDOW16
