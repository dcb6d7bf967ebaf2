"""cocotb tests of the design in test_export.py."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge


async def start(dut) -> None:
    for index in range(3):
        getattr(dut, f"steps__{index}").value = 0
    dut.clear_last.value = 0
    dut.rst.value = 1
    Clock(dut.clk, 2, "ns", impl="gpi").start()
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test()
async def instances_count_apart(dut):
    await start(dut)
    counts = [0, 0, 0]
    for _ in range(100):
        steps = [random.randrange(8) for _ in range(3)]
        rows = [random.randrange(32) for _ in range(3)]
        clear = random.random() < 0.1
        for index in range(3):
            getattr(dut, f"steps__{index}").value = steps[index] | rows[index] << 3
        dut.clear_last.value = int(clear)
        await RisingEdge(
            dut.clk
        )  # inputs of this clock are taken at the next edge; outputs are from before it
        for index in range(3):
            assert getattr(dut, f"counts__{index}").value == counts[index]
            assert getattr(dut, f"inverses__{index}").value == counts[index] ^ 0xFF
            assert getattr(dut, f"entries__{index}").value == {0: 7, 1: 9}.get(rows[index], 0)
            counts[index] = (counts[index] + steps[index]) % 256
        if clear:
            counts[2] = 0


@cocotb.test()
async def outputs_are_defined_at_time_zero(dut):
    """Needs always_comb: with `always @*` Icarus leaves them X until an input changes."""
    await start(dut)
    for index in range(3):
        assert getattr(dut, f"counts__{index}").value.is_resolvable
        assert getattr(dut, f"inverses__{index}").value.is_resolvable
