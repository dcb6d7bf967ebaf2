"""A timer runs for as long as it is told, and begins anew when it is told in between."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.streams import start


@cocotb.test()
async def runs_as_long_as_told(dut):
    await start(dut, port__start=0, port__clocks=0)
    left, begun = 0, 0
    for _ in range(3_000):
        start_it, clocks = random.random() < 0.1, random.choice([1, 2, 3, random.randrange(1, 32)])
        dut.port__start.value, dut.port__clocks.value = int(start_it), clocks
        await RisingEdge(dut.clk)
        assert dut.port__running.value == (left != 0)
        left = clocks if start_it else max(left - 1, 0)
        begun += start_it
    assert begun > 100
