# amaranth: UnusedElaboratable=no
"""The conversions of a die, alone: random bits, the rounding of a number, numbers of FP8."""

from pathlib import Path

import numpy as np
from amaranth.sim import Simulator

from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.numerics.state_format import from_scaled, scaled_bits, stochastic_bfloat16
from flashtrain.rtl.die.update.narrow_state import NarrowState
from flashtrain.rtl.die.update.rounding_bits import RoundingBits
from flashtrain.rtl.die.update.scaled_state import LoadScaled, StoreScaled
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import preset
from flashtrain.spec.state_format import E4M3, E5M2, SCALE_GROUP, Rounding
from tests.numerics.test_state_format import any_groups


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


def simulate(dut, bench):
    simulation = Simulator(dut)
    simulation.add_testbench(bench)
    simulation.run()


def test_every_code_of_fp8_is_loaded():
    """With scales at both ends, and in between."""
    dut, codes = LoadScaled(), np.arange(256, dtype=np.uint8)

    async def bench(context):
        for variance, form in enumerate((E4M3, E5M2)):
            for scale in (0, form.least_scale - 1, form.least_scale, 127, 247, 248, 254, 255):
                shared = np.full(256 // SCALE_GROUP, scale, np.uint8)
                expected = from_scaled(form, codes, shared).view(np.uint32).tolist()
                context.set(dut.variance, variance)
                context.set(dut.scale, scale)
                for code, number in enumerate(expected):
                    context.set(dut.code, code)
                    assert context.get(dut.result) == number, (form, scale, code)

    simulate(dut, bench)


def test_numbers_are_stored_in_fp8(seed):
    """Groups of every kind, with the scale that they have, by both roundings."""
    random, dut = np.random.default_rng(seed), StoreScaled()
    groups = any_groups(random, 24)
    groups = np.where(np.isnan(groups), np.uint32(0x7FC00000).view(np.float32), groups).astype(np.float32)
    chance = random.integers(0, 1 << 16, groups.shape, np.uint32)

    async def bench(context):
        for variance, form in enumerate((E4M3, E5M2)):
            for rounding in Rounding:
                codes, shared = scaled_bits(form, groups, chance if rounding is Rounding.STOCHASTIC else None)
                context.set(dut.variance, variance)
                context.set(dut.rounding, rounding)
                for group, bits in enumerate(groups.view(np.uint32).tolist()):
                    context.set(dut.scale, int(shared[group, 0]))
                    for number, value in enumerate(bits):
                        context.set(dut.a, value)
                        context.set(dut.random, int(chance[group, number]))
                        assert context.get(dut.code) == int(codes[group, number]), (
                            form,
                            rounding,
                            hex(value),
                        )

    simulate(dut, bench)
