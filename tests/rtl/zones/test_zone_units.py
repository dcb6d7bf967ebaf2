"""Units of the zone manager, each alone."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.zones.zone_units import zone_units


@pytest.mark.one_simulator
def test_zone_units(simulator, seed):
    bench = Path(__file__).with_name("zone_units_bench.py")
    run_bench(zone_units(), "zone_units", bench, simulator=simulator, seed=seed)
