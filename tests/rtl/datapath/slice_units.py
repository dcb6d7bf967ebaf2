"""Slice writers for three widths of the data port side by side, as one bench top."""

from flashtrain.rtl.datapath.slice_writer import SliceWriter
from flashtrain.spec.presets import BEHEMOTH_CODEC, SMALL_CODEC, TINY_CODEC
from tests.rtl.side_by_side import SideBySide

CONFIGS = {"narrow": TINY_CODEC, "medium": SMALL_CODEC, "wide": BEHEMOTH_CODEC}
"""By the unit's name: beats shorter than a slice, and beats of several slices."""


def slice_units() -> SideBySide:
    return SideBySide({name: SliceWriter(config) for name, config in CONFIGS.items()})
