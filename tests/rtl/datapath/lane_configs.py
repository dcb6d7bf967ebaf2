"""A configuration of two decoder lanes, with a page of few beats."""

from dataclasses import replace

from flashtrain.spec.presets import TINY_CODEC

TWO_LANES = replace(
    TINY_CODEC, name="two_lanes", geometry=replace(TINY_CODEC.geometry, channels=32), max_blocks=64
)
