"""Configurations with spare blocks, small and not alike."""

from dataclasses import replace

from flashtrain.spec import FmsConfig
from flashtrain.spec.presets import TINY_ECC
from tests.rtl.channel.channel_helpers import DUAL

THREE = replace(DUAL, name="three", geometry=replace(DUAL.geometry, blocks=9, spare_blocks=3))
"""Four planes, and a number of spares that is no power of two."""

ONE = replace(DUAL, name="one", geometry=replace(DUAL.geometry, planes=1, blocks=5, spare_blocks=1))

IMPATIENT_WITH_SPARES = replace(TINY_ECC, name="impatient_with_spares", late_polls=40)
"""Gives a die up within some microseconds."""

SPARE_CONFIGS: dict[str, FmsConfig] = {config.name: config for config in (TINY_ECC, THREE, ONE)}
