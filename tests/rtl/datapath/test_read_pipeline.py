"""The read command pipeline, alone: channels and tensor buffer are models in the bench."""

from functools import reduce
from operator import or_
from pathlib import Path

import pytest
from amaranth import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.datapath.read_pipeline import ReadPipeline
from flashtrain.rtl.datapath.read_return import ReadReturn
from flashtrain.rtl.lib.forward import forward
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import FmsConfig
from tests.rtl.datapath.path_configs import SHAPES, TWO_LANES, read_config

BEATS = ("data", "data_valid", "data_ready", "data_chosen")


def join_beats(m: Module, inside: wiring.Component, streams) -> None:
    """Join a stream of data from each channel to the members of `BEATS`, as `Controller` does."""
    for number, item in enumerate(streams):
        m.d.comb += [inside.data_valid[number].eq(item.valid), item.ready.eq(inside.data_ready[number])]
    chosen = (Mux(inside.data_chosen[n], item.payload, 0) for n, item in enumerate(streams))
    m.d.comb += inside.data.eq(reduce(or_, chosen))


class JoinedReadPipeline(wiring.Component):
    """The pipeline with a stream of data from each channel."""

    def __init__(self, config: FmsConfig):
        self.config = config
        self._inside = ReadPipeline(config)
        members = {n: one for n, one in self._inside.signature.members.items() if n not in BEATS}
        self._same = tuple(members)
        channels = config.geometry.channels
        super().__init__({**members, "data": In(stream.Signature(8 * config.data_bytes)).array(channels)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.pipeline = pipeline = self._inside
        forward(m, pipeline, self, self._same)
        join_beats(m, pipeline, self.data)
        return m


class JoinedReadReturn(wiring.Component):
    """The read return likewise. `beat`: the one that moves, for a lane or not."""

    def __init__(self, config: FmsConfig):
        self.config = config
        self._inside = ReadReturn(config)
        members = {n: one for n, one in self._inside.signature.members.items() if n not in BEATS}
        self._same = tuple(members)
        bits = 8 * config.data_bytes
        super().__init__({
            **members,
            "data": In(stream.Signature(bits)).array(config.geometry.channels),
            "beat": Out(bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.read_return = inside = self._inside
        forward(m, inside, self, self._same)
        join_beats(m, inside, self.data)
        m.d.comb += self.beat.eq(inside.data)
        return m


@pytest.mark.usual("icarus-tiny", "verilator-wider", "verilator-parts")
@pytest.mark.icarus("beat_per_clock|failed_pages|inspection|error_of")
@pytest.mark.parametrize("shape", SHAPES)
def test_read_pipeline(simulator: Simulator, seed: int, part: str | None, shape: str) -> None:
    if part is not None and shape == "parts":
        part += "|parts.*busy=1$"
    run_bench(
        JoinedReadPipeline(read_config(shape)),
        "read_pipeline",
        Path(__file__).with_name("read_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"shape": shape},
        test_filter=part,
    )


@pytest.mark.one_simulator
def test_coded_read_return(simulator: Simulator, seed: int) -> None:
    run_bench(
        JoinedReadReturn(TWO_LANES),
        "coded_read",
        Path(__file__).with_name("coded_read_bench.py"),
        simulator=simulator,
        seed=seed,
    )
