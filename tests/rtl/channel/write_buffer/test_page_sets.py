"""Bookkeeping of the write buffer."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.write_buffer.page_sets import PageSets
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import SET_CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("name", SET_CONFIGS)
def test_page_sets(name, simulator, seed):
    run_bench(
        PageSets(SET_CONFIGS[name]),
        f"page_sets_{name}",
        Path(__file__).with_name("page_sets_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
