"""The timer."""

from pathlib import Path

from flashtrain.rtl.channel.timer import Timer
from flashtrain.sim.runner import run_bench


def test_timer(simulator, seed):
    run_bench(Timer(5), "timer", Path(__file__).with_name("timer_bench.py"), simulator=simulator, seed=seed)
