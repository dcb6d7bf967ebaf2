"""cocotb tests of the queue in test_runner.py: a driver, a monitor, a model."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.parameters import bench_parameters

WIDTH = bench_parameters()["width"]
DEPTH = bench_parameters()["depth"]
PERIOD_NS = 2


async def start(dut) -> None:
    """Drive every input, run the clock, and leave reset."""
    dut.w__valid.value = 0
    dut.w__payload.value = 0
    dut.r__ready.value = 0
    dut.rst.value = 1
    Clock(dut.clk, PERIOD_NS, "ns", impl="gpi").start()
    for _ in range(2):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


async def send(dut, words: list[int], busy: float) -> None:
    """Offer each word until it is taken; before each, stay idle for as long as chance (1 - busy) says."""
    for word in words:
        while random.random() >= busy:
            await RisingEdge(dut.clk)
        dut.w__valid.value = 1
        dut.w__payload.value = word
        await RisingEdge(dut.clk)
        while dut.w__ready.value != 1:
            await RisingEdge(dut.clk)
        dut.w__valid.value = 0


async def receive(dut, count: int, busy: float) -> list[int]:
    """Take `count` words, ready in a share `busy` of the cycles."""
    words = []
    while len(words) < count:
        ready = random.random() < busy
        dut.r__ready.value = int(ready)
        await RisingEdge(dut.clk)
        if ready and dut.r__valid.value == 1:
            words.append(int(dut.r__payload.value))
    dut.r__ready.value = 0
    return words


@cocotb.test()
async def keeps_order_and_contents(dut):
    await start(dut)
    for busy_in, busy_out in [(1, 0.3), (0.3, 1), (0.5, 0.5)]:
        words = [random.getrandbits(WIDTH) for _ in range(200)]
        cocotb.start_soon(send(dut, words, busy_in))
        assert await receive(dut, len(words), busy_out) == words


@cocotb.test()
async def moves_a_word_per_clock(dut):
    await start(dut)
    words = list(range(100))
    begin = get_sim_time("ns")
    cocotb.start_soon(send(dut, words, 1))
    assert await receive(dut, len(words), 1) == words
    cycles = (get_sim_time("ns") - begin) / PERIOD_NS
    assert cycles <= len(words) + 2, f"{len(words)} words took {cycles} cycles"


@cocotb.test()
async def holds_depth_words(dut):
    await start(dut)
    cocotb.start_soon(send(dut, list(range(DEPTH)), 1))
    for _ in range(DEPTH + 2):
        await RisingEdge(dut.clk)
    await ReadOnly()
    assert dut.w__ready.value == 0
