"""A timer runs for the time given at `start`, and restarts at a `start` in between."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.streams import start


@cocotb.test()
async def runs_for_the_given_time(dut):
    await start(dut, port__start=0, port__cycles=0)
    left, begun = 0, 0
    for _ in range(3_000):
        start_it, cycles = random.random() < 0.1, random.choice([1, 2, 3, random.randrange(1, 32)])
        dut.port__start.value, dut.port__cycles.value = int(start_it), cycles
        await RisingEdge(dut.clk)
        assert dut.port__running.value == (left != 0)
        left = cycles if start_it else max(left - 1, 0)
        begun += start_it
    assert begun > 100
