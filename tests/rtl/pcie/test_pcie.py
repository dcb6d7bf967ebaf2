"""The units of `flashtrain.rtl.pcie`, each with its bench."""

from pathlib import Path

from flashtrain.rtl.pcie.function_registers import FunctionRegisters
from flashtrain.rtl.pcie.tlp_port import TlpPort
from flashtrain.sim.bench.runner import Simulator, run_bench

QUEUES, ENTRIES, TAGS = 64, 1024, 16
"""As many as there can be."""


def run(top, name: str, simulator: Simulator, seed: int, **parameters):
    bench = Path(__file__).with_name(f"{name}_bench.py")
    run_bench(top, name, bench, simulator=simulator, seed=seed, parameters=parameters)


def test_function_registers(simulator, seed):
    accesses = 150 if simulator is Simulator.ICARUS else 700
    top = FunctionRegisters(QUEUES, ENTRIES)
    run(top, "function_registers", simulator, seed, queues=QUEUES, accesses=accesses)


def test_tlp_port(simulator, seed):
    bursts = 40 if simulator is Simulator.ICARUS else 150
    run(TlpPort(TAGS), "tlp_port", simulator, seed, tags=TAGS, bursts=bursts)
