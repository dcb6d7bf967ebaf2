"""The timers."""

from pathlib import Path

import pytest

from flashtrain.rtl.lib.timer import HoldTimer, Timer
from flashtrain.sim.bench.runner import run_bench


@pytest.mark.one_simulator
def test_timer(simulator, seed):
    run_bench(Timer(5), "timer", Path(__file__).with_name("timer_bench.py"), simulator=simulator, seed=seed)


@pytest.mark.one_simulator
@pytest.mark.parametrize("cycles", [0, 1, 2, 7])
def test_hold_timer(simulator, seed, cycles):
    run_bench(
        HoldTimer(cycles),
        f"hold_timer_{cycles}",
        Path(__file__).with_name("hold_timer_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"cycles": cycles},
    )
