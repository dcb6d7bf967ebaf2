"""The counters of a channel."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.counters import ChannelCounters
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("name", ["dual", "dual_code"])
def test_counters(name, simulator, seed):
    run_bench(
        ChannelCounters(CONFIGS[name]),
        f"channel_counters_{name}",
        Path(__file__).with_name("counters_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
