"""Configurations by name, for tests of several folders."""

from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.spec import FmsConfig, preset


def configuration(name: str) -> FmsConfig:
    """`tiny_full`, or the preset of that name."""
    return TINY_FULL if name == TINY_FULL.name else preset(name)
