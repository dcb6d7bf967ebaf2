"""Keys of pages on a channel's bus."""

from pathlib import Path

import pytest

from flashtrain.rtl.randomizer.keystream import Keystream
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import PRESETS


@pytest.mark.usual("icarus-tiny_ecc", "verilator-behemoth_ecc", "verilator-small_ecc")
@pytest.mark.parametrize("name", ["tiny_ecc", "small_ecc", "behemoth_ecc"])
def test_keystream(name, simulator, seed):
    run_bench(
        Keystream(PRESETS[name]),
        f"keystream_{name}",
        Path(__file__).with_name("keystream_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
