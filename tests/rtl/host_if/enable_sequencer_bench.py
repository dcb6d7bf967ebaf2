"""The enable sequencer against its state machine, written out, cycle by cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.streams import start


@cocotb.test()
@cocotb.parametrize(own_clock=[False, True])
async def follows_enable_and_drains(dut, own_clock):
    await start(dut, enable=0, drained=0, core_ready=0, arrived=1)
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    state, ons, early, late = "OFF", 0, 0, 0
    enable, arrived = 0, 1
    for _ in range(4_000):
        if random.random() < 0.1:
            enable ^= 1
        drained, core_ready = int(random.random() < 0.2), int(random.random() < 0.5)
        # Channels in the same clock have the reset at once.
        reset = int(state not in ("ON", "END"))
        if not own_clock or random.random() < 0.2:
            arrived = reset
        dut.enable.value, dut.drained.value, dut.core_ready.value = enable, drained, core_ready
        dut.arrived.value = arrived
        await RisingEdge(dut.clk)
        assert dut.reset.value == reset
        assert dut.running.value == (state == "ON")
        assert dut.quiesce.value == (state != "ON")
        assert dut.ready.value == {"OFF": 0, "ON": core_ready}.get(state, 1 - enable)
        if state == "OFF" and enable and arrived:
            state, ons = "ON", ons + 1
        elif state == "ON" and not enable:
            state = "END" if arrived else "DRAIN"
            late += arrived
        elif state == "END" and not arrived:
            state = "DRAIN"
        elif state == "DRAIN":
            early += enable and not drained
            state = "OFF" if drained else "DRAIN"
    assert ons > 50 and early > 10, "too few starts, or none that waits for a drain"
    assert (late > 10) == own_clock
