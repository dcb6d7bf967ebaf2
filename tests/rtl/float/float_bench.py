"""Every float unit's latency, to the clock, while `enable` stops it at random and starts are irregular."""

import random

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.softfloat import Operation
from flashtrain.sim.bench.streams import start

OPERANDS = {"MULTIPLY_ADD": 3, "ADD": 2, "SUBTRACT": 2, "MULTIPLY": 2, "DIVIDE": 2}
VECTORS = 20


@cocotb.test()
@cocotb.parametrize(unit=bench_parameters()["units"])
async def keeps_its_latency(dut, unit):
    operation, count = Operation[unit["operation"]], OPERANDS.get(unit["operation"], 1)
    columns = float_vectors.triples(np.random.default_rng(cocotb.RANDOM_SEED), VECTORS)[:count]
    if unit["width"] == 16:
        columns = [(column >> 16).astype(np.uint16) for column in columns]
    answers = operation(*columns)
    await start(dut, unit=unit["number"], option=unit["option"], a=0, b=0, c=0, start=0, enable=1)

    passed = 0  # cycles with `enable` so far
    expected, sent, free = {}, 0, 0
    while sent < VECTORS or expected:
        dut.enable.value = enable = int(random.random() < 0.7)
        begin = sent < VECTORS and passed >= free and random.random() < 0.8
        # Operands of a clock without `enable` or `start` must not matter.
        dut.start.value = begin
        for name in "abc":
            getattr(dut, name).value = random.getrandbits(32)
        if begin and enable:
            for name, column in zip("abc", columns, strict=False):
                getattr(dut, name).value = int(column[sent])
            expected[passed + unit["latency"]] = sent
            free = passed + unit["interval"]
            sent += 1
        await RisingEdge(dut.clk)
        # This is what was there before the edge: it holds its value through cycles without `enable`.
        if passed in expected:
            number = expected[passed]
            assert dut.result.value == int(answers.results[number]), f"vector {number}"
            assert dut.flags.value == int(answers.flags[number]), f"vector {number}"
            if enable:
                del expected[passed]
        passed += enable
