"""A hold timer runs until its time after the last cycle with `held` is over."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start

CYCLES = bench_parameters()["cycles"]


@cocotb.test()
async def runs_after_the_last_hold(dut):
    await start(dut, held=0)
    left, ended = 0, 0
    for _ in range(3_000):
        held = random.random() < 0.1
        dut.held.value = int(held)
        await RisingEdge(dut.clk)
        assert dut.running.value == (left != 0)
        ended += left == 1 and not held
        left = CYCLES if held else max(left - 1, 0)
    assert (ended > 30) == (CYCLES > 0)
