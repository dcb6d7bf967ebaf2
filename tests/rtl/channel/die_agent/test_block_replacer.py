"""Spare blocks take the place of those that fail: what is erased, in which order, and how fast."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.die_agent.block_replacer import BlockReplacer
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.spare_configs import SPARE_CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("name", SPARE_CONFIGS)
def test_block_replacer(name, simulator, seed):
    bench = Path(__file__).with_name("block_replacer_bench.py")
    run_bench(
        BlockReplacer(SPARE_CONFIGS[name]), "block_replacer", bench,
        simulator=simulator, seed=seed, parameters={"config": name},
    )  # fmt: skip
