"""Configurations for the benches of the NAND half, by name."""

from dataclasses import replace

from flashtrain.spec import FmsConfig
from flashtrain.spec.presets import BEHEMOTH, BEHEMOTH_WIDE, SMALL, SMALL_ECC, TINY, TINY_ECC

# One channel does not know how many there are; fewer blocks make the block table's sweep short.
EIGHT_PLANES = replace(BEHEMOTH, geometry=replace(BEHEMOTH.geometry, channels=4, blocks=32))
FOUR_DIES = replace(BEHEMOTH_WIDE, geometry=replace(BEHEMOTH_WIDE.geometry, channels=4, blocks=32))
FOUR_TINY_DIES = replace(
    TINY, geometry=replace(TINY.geometry, dies=4, planes=4, blocks=18, spare_blocks=2), read_queue=8
)

CONFIGS: dict[str, FmsConfig] = {
    "tiny": TINY,
    "tiny_code": TINY_ECC,
    "small": SMALL,
    "small_code": SMALL_ECC,
    "eight_planes": EIGHT_PLANES,
    "four_dies": FOUR_DIES,
    "four_tiny_dies": FOUR_TINY_DIES,
}
