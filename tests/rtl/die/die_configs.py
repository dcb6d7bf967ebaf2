"""Configurations that the benches of the die run on, by name: a bench gets a name and not a configuration."""

from dataclasses import replace

from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.timing import ns

TINY = preset("tiny")
CONFIGS = {
    "one": TINY,
    # An update unit that is faster than its tile sequencer, and waits for it.
    "fast": replace(TINY, update_interval=1, update_divider=2, fp8_state=True),
    "two": replace(
        TINY,
        geometry=replace(TINY.geometry, dies=2, planes=4, blocks=12, spare_blocks=2),
        # Data come so soon behind their address that the rest of the page is not yet FFh.
        timing=replace(TINY.timing, tbers=ns(1_500), tadl=ns(10)),
        read_queue=8,
    ),
    "small": replace(
        preset("small"), geometry=replace(preset("small").geometry, blocks=4, pages=4), max_blocks=64
    ),
}  # fmt: skip
CONFIGS |= {
    # The update unit has the time of a program for a tile, as on the larger presets.
    "coded": replace(TINY, update_divider=2, code_strength=preset("tiny_ecc").code_strength, read_levels=3),
    # For the rules of SET FEATURES.
    "levels": replace(CONFIGS["two"], code_strength=preset("tiny_ecc").code_strength, read_levels=3),
    "coded_small": replace(CONFIGS["small"], code_strength=preset("small_ecc").code_strength),
}
CONFIGS |= {"keyed": replace(CONFIGS["coded"], randomizer=True, fp8_state=True)}
BAD_BLOCK, BAD_PLANES = 3, 0b10
"""What fails in every bench: block 3 on plane 1."""


def config_named(name: str) -> FmsConfig:
    return CONFIGS[name]
