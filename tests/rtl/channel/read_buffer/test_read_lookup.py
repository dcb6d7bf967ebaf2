"""The read lookup of a channel."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.read_buffer.read_lookup import ReadLookup
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("name", ["tiny", "dual"])
def test_read_lookup(name, simulator, seed):
    run_bench(
        ReadLookup(CONFIGS[name]),
        f"read_lookup_{name}",
        Path(__file__).with_name("read_lookup_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
