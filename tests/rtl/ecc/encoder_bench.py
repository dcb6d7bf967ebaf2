"""The encoder sends what the codec in NumPy makes of a page, at the rate of the bus."""

import random

import cocotb
import numpy as np

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start
from tests.rtl.ecc.ecc_helpers import beats, code_of_bench, random_data

CODE = code_of_bench()
WIDTH = bench_parameters()["width"]
CODEC = PageCodec(CODE)


def pages(count: int) -> list[np.ndarray]:
    """Random ones, and an erased one."""
    return [random_data(CODE) for _ in range(count)] + [np.full(CODE.data_bytes, 0xFF, np.uint8)]


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.5], busy_out=[1, 0.6])
async def parity_follows(dut, busy_in, busy_out):
    source, sink = StreamSource(dut, "input", busy_in), StreamSink(dut, "output", busy_out)
    await start(dut)
    for data in pages(2):
        before = len(sink.items)
        source.send(*beats(data, WIDTH))
        expected = beats(CODEC.encode(data), WIDTH)
        got = await sink.wait_for(before + len(expected))
        assert got[before:] == expected
    assert source.empty


@cocotb.test()
async def takes_a_clock_per_beat(dut):
    """Two pages without a gap: what passes, and parity."""
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output")
    await start(dut)
    both = [random_data(CODE) for _ in range(2)]
    expected = [beat for data in both for beat in beats(CODEC.encode(data), WIDTH)]
    source.send(*(beat for data in both for beat in beats(data, WIDTH)))
    assert await sink.wait_for(len(expected)) == expected
    assert sink.cycles[-1] - sink.cycles[0] == len(expected) - 1


@cocotb.test()
async def no_page_is_begun_before_its_data_come(dut):
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output", busy=random.choice([0.5, 1]))
    await start(dut)
    data = random_data(CODE)
    *first, last = beats(data, WIDTH)
    source.send(*first)
    await sink.wait_for(len(first))
    await cocotb.triggers.ClockCycles(dut.clk, 20)
    assert len(sink.items) == len(first)
    source.send(last)
    expected = beats(CODEC.encode(data), WIDTH)
    assert await sink.wait_for(len(expected)) == expected
