"""Configurations of the benches of the data path."""

from dataclasses import replace

from flashtrain.spec import FmsConfig
from flashtrain.spec.presets import TINY_CODEC, TINY_ECC
from tests.configurations import TINY_PARTS

TWO_LANES = replace(
    TINY_CODEC, name="two_lanes", geometry=replace(TINY_CODEC.geometry, channels=32), max_blocks=64
)
"""Two decoder lanes, with a page of few beats."""

SHAPES = ("tiny", "wider", "parts")
"""Of the read pipeline."""


def read_config(shape: str) -> FmsConfig:
    """With a code, but for `parts`, whose reads name parts of a page."""
    if shape == "parts":
        return replace(TINY_PARTS, read_queue=8)
    counts = {"dies": 2, "planes": 4} if shape == "wider" else {}
    return replace(TINY_ECC, read_queue=8, geometry=replace(TINY_ECC.geometry, **counts))
