"""Configurations that no preset has, for tests of several folders."""

from dataclasses import replace

from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.presets import TINY_ECC

TINY_FULL = replace(TINY_ECC, name="tiny_full", codec=True)
"""`tiny` with a code, read levels, a randomizer, spare blocks and a codec.

To compile a simulator takes most of a minute: the tests of all these options share that of this one.
"""


def configuration(name: str) -> FmsConfig:
    """`tiny_full`, or the preset of that name."""
    return TINY_FULL if name == TINY_FULL.name else preset(name)
