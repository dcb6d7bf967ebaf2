"""The units of the bus controller: turnaround and cycle sequencer."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.bus.bus_units import bus_units


@pytest.mark.one_simulator
def test_bus_units(simulator, seed):
    bench = Path(__file__).with_name("bus_units_bench.py")
    run_bench(bus_units(), "bus_units", bench, simulator=simulator, seed=seed)
