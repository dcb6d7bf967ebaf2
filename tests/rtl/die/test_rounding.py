# amaranth: UnusedElaboratable=no
"""The stochastic rounding of a die, alone: random bits, and the rounding of a number."""

from pathlib import Path

import numpy as np
from amaranth.sim import Simulator

from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.numerics.state_format import stochastic_bfloat16
from flashtrain.rtl.die.update.narrow_state import NarrowState
from flashtrain.rtl.die.update.rounding_bits import RoundingBits
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import preset
from flashtrain.spec.state_format import Rounding


def test_random_bits(simulator, seed):
    run_bench(
        RoundingBits(preset("tiny")),
        "rounding_bits",
        Path(__file__).with_name("rounding_bits_bench.py"),
        simulator=simulator,
        seed=seed,
    )


def test_a_number(seed):
    """Without a clock, so in Amaranth's own simulator; the benches of a die run it in the others."""
    random, dut = np.random.default_rng(seed), NarrowState()
    bits = random.integers(0, 1 << 32, 3000, np.uint32)
    bits[:8] = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 0x007FFFFF, 1]
    bits[8:1000] = bits[8:1000] & 0xFFFF0000 | 0x8000  # halfway between two numbers
    values = bits.view(np.float32)
    values = np.where(np.isnan(values), np.uint32(0x7FC00000).view(np.float32), values)
    chance = random.integers(0, 1 << 16, values.size, np.uint32)
    expected = to_bfloat16(values), stochastic_bfloat16(values, chance)

    async def bench(context):
        for number, (value, by) in enumerate(zip(values.view(np.uint32), chance, strict=True)):
            context.set(dut.a, int(value))
            context.set(dut.random, int(by))
            for rounding in Rounding:
                context.set(dut.rounding, rounding)
                assert context.get(dut.result) == int(expected[rounding][number]), hex(value)

    simulation = Simulator(dut)
    simulation.add_testbench(bench)
    simulation.run()
