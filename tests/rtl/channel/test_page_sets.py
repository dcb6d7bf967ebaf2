"""Bookkeeping of the write buffer."""

from pathlib import Path

import pytest
from channel_kit import CONFIGS

from flashtrain.rtl.channel.page_sets import PageSets
from flashtrain.sim.runner import run_bench


@pytest.mark.parametrize("name", ["tiny", "dual"])
def test_page_sets(name, simulator, seed):
    run_bench(
        PageSets(CONFIGS[name]),
        f"page_sets_{name}",
        Path(__file__).with_name("page_sets_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
