"""The merge loses nothing, keeps each input's order, takes turns, and runs at full rate."""

import random
from collections import Counter

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start

INPUTS = bench_parameters()["inputs"]


def item(number: int, index: int) -> int:
    return number << 12 | index


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def loses_nothing(dut, busy):
    sources = [StreamSource(dut, f"inputs__{n}", random.choice([busy, 0.1])) for n in range(INPUTS)]
    sink = StreamSink(dut, "output", busy)
    await start(dut)
    for number, source in enumerate(sources):
        source.send(*(item(number, index) for index in range(60)))
    items = await sink.wait_for(60 * INPUTS)
    for number in range(INPUTS):
        assert [i & 0xFFF for i in items if i >> 12 == number] == list(range(60))


@cocotb.test()
async def takes_turns_at_full_rate(dut):
    """Every input gets its share of any stretch, whoever came first."""
    sources = [StreamSource(dut, f"inputs__{n}") for n in range(INPUTS)]
    sink = StreamSink(dut, "output")
    await start(dut)
    for number, source in enumerate(sources):
        source.send(*(item(number, index) for index in range(100)))
    items = await sink.wait_for(60 * INPUTS)
    # A source is idle for a clock after each item, so the others go ahead; none may fall behind by much.
    shares = Counter(i >> 12 for i in items)
    assert max(shares.values()) - min(shares.values()) <= 1, shares
    assert sink.cycles[len(items) - 1] - sink.cycles[0] == len(items) - 1, "not one item per clock"
