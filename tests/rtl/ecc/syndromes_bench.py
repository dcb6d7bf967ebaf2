"""Syndromes of every code word of a page, of clean ones and others, at the rate of the bus."""

import random

import cocotb

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.rtl.ecc.layouts import Syndromes
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start, unpack
from tests.rtl.ecc.ecc_helpers import beats, code_of_bench, damage, random_page

CODE = code_of_bench()
WIDTH = bench_parameters()["width"]
CODEC = PageCodec(CODE)
LAYOUT = Syndromes(CODE)


def read_page():
    """A page with a few wrong bits in some of its code words, or with many."""
    page = random_page(CODEC)
    for word in range(CODE.words):
        damage(page, CODE, word, random.choice([0, 1, CODE.strength, 5 * CODE.strength]))
    return page


def expected(page) -> list[dict[str, int]]:
    bits = CODE.field.bits
    return [
        {
            "source": 0,
            "word": word,
            "values": sum(
                int(value) << bits * index for index, value in enumerate(CODEC.syndromes(page, word))
            ),
        }
        for word in range(CODE.words)
    ]


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.5], busy_out=[1, 0.1])
async def every_code_word(dut, busy_in, busy_out):
    source, sink = StreamSource(dut, "input", busy_in), StreamSink(dut, "output", busy_out)
    await start(dut)
    pages = [random_page(CODEC), read_page(), read_page()]
    source.send(*(beat for page in pages for beat in beats(page, WIDTH)))
    got = await sink.wait_for(len(pages) * CODE.words)
    assert [unpack(LAYOUT, item) for item in got] == [one for page in pages for one in expected(page)]
    assert all(unpack(LAYOUT, item)["values"] == 0 for item in got[: CODE.words])


@cocotb.test()
async def takes_a_clock_per_beat(dut):
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output")
    await start(dut)
    pages = [read_page(), read_page()]
    source.send(*(beat for page in pages for beat in beats(page, WIDTH)))
    await sink.wait_for(2 * CODE.words)
    assert source.empty
    # A word's parity after that of the word before, and the next page a page later.
    parity, page = 8 * CODE.parity_bytes // WIDTH, 8 * CODE.page_bytes // WIDTH
    first = sink.cycles[0]
    assert [clock - first for clock in sink.cycles] == [
        number * page + word * parity for number in range(2) for word in range(CODE.words)
    ]


@cocotb.test()
async def waits_for_its_output(dut):
    """A word's syndromes stay until they are taken, and the last beat of the next word's parity waits."""
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output", busy=0)
    await start(dut)
    page = read_page()
    both = beats(page, WIDTH) * 2
    source.send(*both)
    await cocotb.triggers.ClockCycles(dut.clk, 3 * len(both))
    parity = 8 * CODE.parity_bytes // WIDTH
    behind = CODE.words - 2 if CODE.words > 1 else -1  # words whose parity has not begun
    of_page = len(both) // 2
    stopped = of_page - behind * parity - 1 if CODE.words > 1 else 2 * of_page - 1
    assert source.sent == stopped
    sink.busy = 1
    got = await sink.wait_for(2 * CODE.words)
    assert [unpack(LAYOUT, item) for item in got] == 2 * expected(page)
