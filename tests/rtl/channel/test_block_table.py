"""The block table: initial contents, look-ups, changes."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.block_table import BlockTable
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.bus.nand_helpers import CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("config", ["tiny", "tiny_code", "four_tiny_dies"])
def test_block_table(config, simulator, seed):
    run_bench(
        BlockTable(CONFIGS[config]),
        "block_table",
        Path(__file__).with_name("block_table_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": config},
    )
