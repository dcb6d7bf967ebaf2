# amaranth: UnusedElaboratable=no
"""The randomizer of a die, alone."""

from pathlib import Path

import pytest

from flashtrain.rtl.die.update.tile_randomizer import TileRandomizer
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import PRESETS


@pytest.mark.usual("verilator-behemoth_ecc", "verilator-small_ecc", "verilator-tiny_ecc")
@pytest.mark.parametrize("name", ["tiny_ecc", "small_ecc", "behemoth_ecc"])
def test_alone(name, simulator, seed):
    run_bench(
        TileRandomizer(PRESETS[name]),
        f"tile_randomizer_{name}",
        Path(__file__).with_name("tile_randomizer_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
