"""The read command pipeline, alone: channels and tensor buffer are models in the bench."""

from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path

import pytest
from amaranth import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In

from flashtrain.rtl.datapath.read_pipeline import ReadPipeline
from flashtrain.rtl.lib.forward import forward
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import FmsConfig, preset


class JoinedReadPipeline(wiring.Component):
    """The pipeline with a stream of data from each channel, joined as `Controller` joins them."""

    def __init__(self, config: FmsConfig):
        self.config = config
        members = dict(ReadPipeline(config).signature.members)
        for name in ("data", "data_valid", "data_ready", "data_chosen"):
            del members[name]
        channels = config.geometry.channels
        super().__init__({**members, "data": In(stream.Signature(8 * config.data_bytes)).array(channels)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.pipeline = pipeline = ReadPipeline(self.config)
        same = ("jobs", "axi", "returned", "issued", "pages", "heads")
        forward(m, pipeline, self, (*same, "page_read", "busy", "stall_memory", "no_page"))
        for number, item in enumerate(self.data):
            m.d.comb += [
                pipeline.data_valid[number].eq(item.valid),
                item.ready.eq(pipeline.data_ready[number]),
            ]
        chosen = (Mux(pipeline.data_chosen[n], item.payload, 0) for n, item in enumerate(self.data))
        m.d.comb += pipeline.data.eq(reduce(or_, chosen))
        return m


@pytest.mark.long("icarus", "wider")
@pytest.mark.long("verilator", "tiny")
@pytest.mark.parametrize("shape", [{}, {"dies": 2, "planes": 4}], ids=["tiny", "wider"])
def test_read_pipeline(simulator: Simulator, seed: int, shape: dict[str, int]) -> None:
    tiny = preset("tiny_ecc")
    run_bench(
        JoinedReadPipeline(replace(tiny, read_queue=8, geometry=replace(tiny.geometry, **shape))),
        "read_pipeline",
        Path(__file__).with_name("read_pipeline_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters=shape,
    )
