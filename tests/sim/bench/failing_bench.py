"""A bench that test_runner.py expects to fail."""

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def passes(dut):
    await Timer(1, "ns")


@cocotb.test()
async def fails(dut):
    await Timer(1, "ns")
    assert len("meant to fail") == 5
