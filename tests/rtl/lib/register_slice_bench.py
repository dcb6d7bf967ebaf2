"""Register slices lose nothing, and pass an item per cycle, or in two."""

import random

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start

COUNT, CYCLES = (bench_parameters()[name] for name in ("count", "cycles"))


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def loses_nothing(dut, busy):
    sources = [StreamSource(dut, f"inputs__{n}", random.choice([busy, 0.5])) for n in range(COUNT)]
    sinks = [StreamSink(dut, f"outputs__{n}", random.choice([busy, 0.5])) for n in range(COUNT)]
    await start(dut)
    sent = [[random.getrandbits(16) for _ in range(200)] for _ in range(COUNT)]
    for source, items in zip(sources, sent, strict=True):
        source.send(*items)
    for sink, items in zip(sinks, sent, strict=True):
        assert await sink.wait_for(len(items)) == items


@cocotb.test()
async def passes_items_at_its_rate(dut):
    source, sink = StreamSource(dut, "inputs__0"), StreamSink(dut, "outputs__0")
    for number in range(1, COUNT):
        StreamSink(dut, f"outputs__{number}")
    await start(dut)
    source.send(*range(100))
    items = await sink.wait_for(100)
    assert items == list(range(100))
    assert sink.cycles[99] - sink.cycles[0] == 99 * CYCLES
