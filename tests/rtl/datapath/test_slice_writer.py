"""The slice writer, for data ports of 4, 8 and 128 bytes."""

from pathlib import Path

import pytest

from flashtrain.sim.bench.runner import run_bench
from tests.rtl.datapath.slice_units import slice_units


@pytest.mark.one_simulator
def test_slice_writer(simulator, seed):
    bench = Path(__file__).with_name("slice_writer_bench.py")
    run_bench(slice_units(), "slice_units", bench, simulator=simulator, seed=seed)
