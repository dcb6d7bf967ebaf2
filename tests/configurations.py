"""Configurations by name, for tests of several folders."""

from dataclasses import replace

from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.presets import TINY

TINY_PARTS = replace(
    TINY, name="tiny_parts", geometry=replace(TINY.geometry, page_bytes=2048), part_bytes=512
)
"""Reads name parts of a page, of which there are four."""


def configuration(name: str) -> FmsConfig:
    """`tiny_full`, `tiny_parts`, or the preset of that name."""
    own = {one.name: one for one in (TINY_FULL, TINY_PARTS)}
    return own[name] if name in own else preset(name)
