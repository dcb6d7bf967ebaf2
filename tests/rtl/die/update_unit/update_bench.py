"""A few parameters of every program, with unknown operands between them."""

import random

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotb.types import LogicArray

from flashtrain.sim.bench import float_vectors
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.optimizer import CONSTANT_WORDS, PARTIAL_SUMS, CopyFormat, GradientFormat, OptimizerCode
from tests.rtl.die.update_unit.update_model import Settings, reference

LATENCY = bench_parameters()["latency"]
PARAMETERS = 6
OPERANDS = ("w", "m", "v", "gradient")
UNKNOWN = LogicArray("X" * 32)


@cocotb.test()
async def results_and_statistics(dut):
    """Signals change and are looked at in the second half of a clock."""
    vectors = np.random.default_rng(cocotb.RANDOM_SEED)
    for name in ("enable", "clear", "valid", "code", "gradient_format", "copy_format", "constants", "index"):
        getattr(dut, name).value = 0
    for name in OPERANDS:
        getattr(dut, name).value = UNKNOWN
    dut.rst.value = 1
    Clock(dut.clk, 10, "ns", impl="gpi").start()
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    for code in OptimizerCode:
        constants = tuple(int(word) for word in float_vectors.values(vectors, CONSTANT_WORDS))
        formats = random.choice(list(GradientFormat)), random.choice(list(CopyFormat)[1:])
        settings = Settings(code, *formats, constants)
        operands = {name: float_vectors.values(vectors, PARAMETERS) for name in OPERANDS}
        await run(dut, settings, operands)


async def run(dut, settings, operands):
    """One sequence, compared with the reference."""
    expected = reference(settings, operands)
    dut.code.value = settings.code
    dut.gradient_format.value = settings.gradient_format
    dut.copy_format.value = settings.copy_format
    dut.constants.value = sum(word << 32 * index for index, word in enumerate(settings.constants))
    dut.enable.value = 0
    dut.clear.value = 1
    await FallingEdge(dut.clk)
    dut.clear.value = 0
    entered, left = [], []
    now = 0
    while len(left) < PARAMETERS or int(dut.busy.value):
        assert now < 40 * PARAMETERS + 2 * LATENCY[settings.code.name], "results are missing"
        enabled = random.random() < 0.9
        offered = len(entered) < PARAMETERS and random.random() < 0.8
        dut.enable.value, dut.valid.value = enabled, offered
        for name in OPERANDS:
            getattr(dut, name).value = int(operands[name][len(entered)]) if offered else UNKNOWN
        if enabled:
            if int(dut.done.value):
                for name, array in expected.arrays.items():
                    value, wanted = getattr(dut, name).value, int(array[len(left)])
                    assert value == wanted, f"{settings}, {name} of number {len(left)}: {value}, {wanted:08x}"
                assert now - entered[len(left)] == LATENCY[settings.code.name]
                left.append(now)
            if offered and int(dut.ready.value):
                entered.append(now)
            now += 1
        await FallingEdge(dut.clk)
    squares = []
    for index in range(PARTIAL_SUMS):
        dut.index.value = index
        await FallingEdge(dut.clk)
        squares.append(int(dut.square.value))
    counted = {name: int(getattr(dut, name).value) for name in ("nans", "infinities", "largest")}
    assert {**counted, "squares": tuple(squares)} == expected.statistics, settings
