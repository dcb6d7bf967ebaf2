"""The AXI guard and the write multiplexer, each with its bench."""

from pathlib import Path

import pytest

from flashtrain.rtl.host_if.write_mux import WriteMux
from flashtrain.rtl.lib.axi_guard import AxiGuard
from flashtrain.sim.bench.runner import run_bench


@pytest.mark.parametrize("data_bytes", [8, 128])
def test_guard(simulator, seed, data_bytes):
    parameters = {"address_bits": 36, "data_bytes": data_bytes, "bursts": 6}
    guard = AxiGuard(address_bits=36, data_bits=8 * data_bytes, bursts=6)
    bench = Path(__file__).with_name("guard_bench.py")
    run_bench(guard, "guard", bench, simulator=simulator, seed=seed, parameters=parameters)


def test_write_mux(simulator, seed):
    parameters = {"address_bits": 36, "writers": 2}
    mux = WriteMux(2, address_bits=36, data_bits=64)
    bench = Path(__file__).with_name("write_mux_bench.py")
    run_bench(mux, "write_mux", bench, simulator=simulator, seed=seed, parameters=parameters)
