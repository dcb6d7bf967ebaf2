"""The counters of a channel."""

from pathlib import Path

from flashtrain.rtl.channel.counters import ChannelCounters
from flashtrain.sim.runner import run_bench


def test_counters(simulator, seed):
    run_bench(
        ChannelCounters(2),
        "channel_counters",
        Path(__file__).with_name("counters_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"dies": 2},
    )
