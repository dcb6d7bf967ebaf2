"""The queue keeps order and contents, holds its depth, and runs at full rate."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start

DEPTH = bench_parameters()["depth"]


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.4], busy_out=[1, 0.4])
async def keeps_order_and_contents(dut, busy_in, busy_out):
    source, sink = StreamSource(dut, "input", busy_in), StreamSink(dut, "output", busy_out)
    await start(dut)
    words = [random.getrandbits(16) for _ in range(200)]
    source.send(*words)
    assert await sink.wait_for(len(words)) == words
    if busy_in == busy_out == 1:
        assert sink.cycles[-1] - sink.cycles[0] == len(words) - 1, "not one item per clock"


@cocotb.test()
async def holds_its_depth(dut):
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output", busy=0)
    await start(dut)
    source.send(*range(DEPTH + 5))
    for _ in range(DEPTH + 10):
        await RisingEdge(dut.clk)
    assert source.sent == DEPTH
    assert sink.items == []
