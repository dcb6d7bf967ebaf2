"""The read intake of a channel."""

from pathlib import Path

import pytest
from channel_kit import CONFIGS

from flashtrain.rtl.channel.read_intake import ReadIntake
from flashtrain.sim.runner import run_bench


@pytest.mark.parametrize("name", ["tiny", "dual"])
def test_read_intake(name, simulator, seed):
    run_bench(
        ReadIntake(CONFIGS[name]),
        f"read_intake_{name}",
        Path(__file__).with_name("read_intake_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
