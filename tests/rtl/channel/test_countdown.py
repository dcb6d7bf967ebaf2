"""The countdown."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.countdown import Countdown
from flashtrain.sim.runner import run_bench


@pytest.mark.parametrize("clocks", [0, 1, 2, 7])
def test_countdown(simulator, seed, clocks):
    run_bench(
        Countdown(clocks),
        f"countdown_{clocks}",
        Path(__file__).with_name("countdown_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"clocks": clocks},
    )
