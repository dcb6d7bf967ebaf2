"""Dies, array models and the checker together, on the pins of a channel."""

import sys
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.export import export_design
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.sim.nand import ICARUS_SOURCES, VERILATOR_SOURCES, NandChannel
from flashtrain.sim.runner import Simulator, run_bench

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from die_configs import BAD_BLOCK, BAD_PLANES, config_named  # noqa: E402

CHANNEL = 5


class NandBench(wiring.Component):
    """A channel of dies that counts its own clocks."""

    def __init__(self, nand: NandChannel):
        self.nand = nand
        super().__init__({
            "bus": In(NandBus(nand.config.geometry.dies)),
            "cycle": Out(64),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.nand = nand = self.nand
        connect(m, flipped(self.bus), nand.bus)
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)
        m.d.comb += [
            self.cycle.eq(cycle),
            nand.cycle.eq(cycle),
            nand.channel.eq(CHANNEL),
            self.violations.eq(nand.violations),
        ]
        return m


@pytest.fixture
def run(simulator, seed, tmp_path):
    """Runs a bench on a configuration."""

    def run(bench: str, name: str, **options):
        top = NandBench(NandChannel(config_named(name), bad_block=BAD_BLOCK, bad_planes=BAD_PLANES))
        files = export_design(top, "nand_bench").write(tmp_path)
        if simulator is Simulator.VERILATOR:
            files += [*VERILATOR_SOURCES, HERE / "recorder.cpp"]
        else:
            files += ICARUS_SOURCES
        parameters = {"config": name, "verilator": simulator is Simulator.VERILATOR}
        return run_bench(
            files,
            "nand_bench",
            HERE / bench,
            simulator=simulator,
            seed=seed,
            parameters=parameters,
            **options,
        )

    return run


def test_operations(run):
    run("die_bench.py", "two")


def test_every_breach_is_refused_once(run):
    run("violations_bench.py", "two")


def test_random_operations_against_a_twin(run):
    run("random_bench.py", "two")
