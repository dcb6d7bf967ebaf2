"""The AXI guard and the write multiplexer, each with its bench."""

from pathlib import Path

import pytest

from flashtrain.rtl.lib.axi_guard import AxiGuard
from flashtrain.rtl.lib.write_mux import WriteMux
from flashtrain.sim.bench.runner import run_bench


@pytest.mark.one_simulator
@pytest.mark.parametrize(("data_bytes", "parts"), [(8, 1), (128, 4)])
def test_guard(simulator, seed, data_bytes, parts):
    parameters = {"address_bits": 36, "data_bytes": data_bytes, "bursts": 6, "parts": parts}
    guard = AxiGuard(address_bits=36, data_bits=8 * data_bytes, bursts=6, parts=parts)
    bench = Path(__file__).with_name("guard_bench.py")
    run_bench(guard, "guard", bench, simulator=simulator, seed=seed, parameters=parameters)


@pytest.mark.one_simulator
@pytest.mark.parametrize(("writers", "parts"), [(2, 1), (5, 4)])
def test_write_mux(simulator, seed, writers, parts):
    parameters = {"address_bits": 36, "writers": writers, "parts": parts}
    mux = WriteMux(writers, address_bits=36, data_bits=64, parts=parts)
    bench = Path(__file__).with_name("write_mux_bench.py")
    run_bench(mux, "write_mux", bench, simulator=simulator, seed=seed, parameters=parameters)
