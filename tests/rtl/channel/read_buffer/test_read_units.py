"""Units of the read buffer, each alone."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.read_buffer.read_units import read_units


@pytest.mark.one_simulator
def test_read_units(simulator, seed):
    bench = Path(__file__).with_name("read_units_bench.py")
    run_bench(read_units(), "read_units", bench, simulator=simulator, seed=seed)
