"""A channel engine with its dies, the models of their arrays, and the checker on its pins."""

from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.sim.nand import ICARUS_SOURCES, VERILATOR_SOURCES, NandChannel
from flashtrain.spec import FmsConfig
from tests.rtl.channel.channel_helpers import (
    CONFIGS,
    DUAL_SPARES,
    EVERY_CONFIG,
    LUNS,
    LUNS_SDR,
    LUNS_SPARES,
    PARTS,
    SCA_PARTS,
    WIDE_PARTS,
)
from tests.rtl.channel.engine_top import EngineTop
from tests.rtl.elaborated import elaborated

FAILING_HOST = Path(__file__).parents[1] / "failing_host.cpp"
BAD_ZONE = 7  # on one plane of each die its block cannot be programmed
ENGINES = {**CONFIGS, DUAL_SPARES.name: DUAL_SPARES, LUNS.name: LUNS}
STEPS = {Simulator.ICARUS: 2, Simulator.VERILATOR: 20}


class EngineWithDies(wiring.Component):
    """Members are those of the engine but its pins, and the breaches that arrays and checker have seen.

    wrong : In(16)      bits of a page that change on their way from a die, those of a beat
    flipped : Out(32)   how many have, if it is one at a time
    """

    def __init__(self, config: FmsConfig, *, bad_block: int, bad_planes: int):
        self.engine = EngineTop(config)
        self.nand = NandChannel(config, bad_block=bad_block, bad_planes=bad_planes)
        members = {name: member for name, member in self.engine.signature.members.items() if name != "nand"}
        super().__init__({**members, "violations": Out(32), "wrong": In(16), "flipped": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = self.engine
        m.submodules.nand = nand = self.nand
        connect(m, engine.nand, nand.bus)
        own = ("violations", "wrong", "flipped")
        forward(m, engine, self, [name for name in self.signature.members if name not in own])
        # A status is a single beat, and stays as it is.
        before, flips = Signal(), Signal()
        m.d.sync += before.eq(nand.bus.dqs_i)
        m.d.comb += flips.eq(before & nand.bus.dqs_i & self.wrong.any())
        with m.If(flips):
            m.d.comb += engine.nand.dq_i.eq(nand.bus.dq_i ^ self.wrong)
            m.d.sync += self.flipped.eq(self.flipped + 1)
        m.d.comb += self.violations.eq(nand.violations)
        cycle = Signal(64)
        m.d.sync += cycle.eq(cycle + 1)
        m.d.comb += nand.cycle.eq(cycle)
        return m

    @classmethod
    def elaborated(cls, config: FmsConfig, *, bad_block: int, bad_planes: int) -> list[Path]:
        """Its SystemVerilog, as module `engine`."""
        return elaborated(
            lambda: cls(config, bad_block=bad_block, bad_planes=bad_planes),
            "engine", cls, EngineTop, config, bad_block, bad_planes,
        )  # fmt: skip


def surroundings(simulator: Simulator) -> list[Path]:
    """What a simulator needs beside the exported engine and its dies."""
    return [*VERILATOR_SOURCES, FAILING_HOST] if simulator is Simulator.VERILATOR else list(ICARUS_SOURCES)


@pytest.mark.usual("verilator-dual_spares", "verilator-luns")
@pytest.mark.icarus("contents|failed|short")
@pytest.mark.parametrize("name", ENGINES)
def test_engine(name, simulator, seed, part):
    """The simulator of `dual_spares` is that of `test_spares`."""
    run("engine", ENGINES[name], simulator, seed, part)


@pytest.mark.long
def test_sdr(simulator, seed):
    """Pages take longer than the other tests of the bench expect."""
    if simulator is not Simulator.VERILATOR:
        pytest.skip("too slow")
    run("engine", LUNS_SDR, simulator, seed, "contents|short|failed")


@pytest.mark.usual("verilator-dual_spares")
@pytest.mark.parametrize("name", [DUAL_SPARES.name, LUNS_SPARES.name])
def test_spares(name, simulator, seed):
    run("engine_spares", EVERY_CONFIG[name], simulator, seed)


@pytest.mark.usual("verilator-parts", "verilator-sca_parts")
@pytest.mark.parametrize("name", [PARTS.name, WIDE_PARTS.name, SCA_PARTS.name])
def test_parts(name, simulator, seed):
    """The other tests of the bench read whole pages."""
    part = "its_time" if simulator is Simulator.ICARUS else "contents|own_beats|its_time"
    run("engine", EVERY_CONFIG[name], simulator, seed, part)


def run(bench: str, config: FmsConfig, simulator: Simulator, seed: int, part: str | None = None) -> None:
    # Another plane than the one that is asked first, where each has a status of its own.
    bad_planes = 2 if config is LUNS else 1
    files = EngineWithDies.elaborated(config, bad_block=BAD_ZONE, bad_planes=bad_planes)
    run_bench(
        files + surroundings(simulator),
        "engine",
        Path(__file__).with_name(f"{bench}_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": config.name, "steps": STEPS[simulator], "bad_zone": BAD_ZONE},
        test_filter=part,
    )
