"""Seconds, of a clock that is slow enough to see several."""

from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start

CYCLES = bench_parameters()["cycles"]


@cocotb.test()
async def a_pulse_in_so_many_cycles(dut):
    await start(dut)
    pulses = []
    for clock in range(4 * CYCLES + 2):
        await RisingEdge(dut.clk)
        if dut.second.value == 1:
            pulses.append(clock)
    assert len(pulses) == 4
    assert [later - one for one, later in pairwise(pulses)] == [CYCLES] * 3
    assert CYCLES - 2 <= pulses[0] <= CYCLES + 1
