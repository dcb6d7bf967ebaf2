"""The Python driver brings independent SDR parts up, through the RTL, at the times of the standard."""

import cocotb
from cocotb.clock import Clock
from cocotb.task import bridge
from cocotb.triggers import RisingEdge, Timer

from flashtrain.host.bringup import bring_up
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec.registers import Register
from tests.rtl.controller.bench_link import BenchLink
from tests.rtl.controller.sdr_board import PORTED

CONFIG = PORTED.config
SOCKETS = [socket for sockets in PORTED.sockets for socket in sockets]


@cocotb.test()
async def brings_up_every_part(dut):
    registers = Registers(dut)
    dut.power.value = 0
    dut.rst.value = 1
    await Timer(PERIOD_NS, "ns")
    Clock(dut.clk, PERIOD_NS, "ns", impl="gpi").start()
    await Timer(200, "ns")
    dut.power.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    await Timer(20, "ns")
    reports = await bridge(bring_up)(BenchLink(registers, CONFIG))
    slowest = min(socket.mode for socket in SOCKETS)
    for channel, (report, socket) in enumerate(zip(reports, SOCKETS, strict=True)):
        assert report.error is None, report.error
        assert report.page is not None and report.page.model == "SDR PART"
        assert report.page.sdr_modes == tuple(range(socket.mode + 1))
        assert [step.outcome for step in report.steps[-3:-1]] == ["25 ohm", "passed"]
        assert report.mode == slowest and getattr(dut, f"modes__{channel}").value == slowest
        for name in ("violations", "misuses", "ignored"):
            assert int(getattr(dut, f"{name}__{channel}").value) == 0, name
    assert await registers.read(Register.CONTROL) == 0
