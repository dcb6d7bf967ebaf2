"""The enable sequencer against its state machine, written out, cycle by cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.streams import start


@cocotb.test()
async def follows_enable_and_drains(dut):
    await start(dut, enable=0, drained=0, core_ready=0)
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    state, ons, early = "OFF", 0, 0
    enable = 0
    for _ in range(4_000):
        if random.random() < 0.1:
            enable ^= 1
        drained, core_ready = int(random.random() < 0.2), int(random.random() < 0.5)
        dut.enable.value, dut.drained.value, dut.core_ready.value = enable, drained, core_ready
        await RisingEdge(dut.clk)
        assert dut.reset.value == (state != "ON")
        assert dut.running.value == (state == "ON")
        assert dut.quiesce.value == (state != "ON")
        assert dut.ready.value == {"OFF": 0, "ON": core_ready, "DRAIN": 1 - enable}[state]
        if state == "OFF" and enable:
            state, ons = "ON", ons + 1
        elif state == "ON" and not enable:
            state = "DRAIN"
        elif state == "DRAIN":
            early += enable and not drained
            state = "OFF" if drained else "DRAIN"
    assert ons > 50 and early > 10, "too few starts, or none that waits for a drain"
