# amaranth: UnusedElaboratable=no
"""The conversions of a die, alone: random bits, the rounding of a number, numbers of FP8."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from amaranth.sim import Simulator

from flashtrain.numerics.float32 import to_bfloat16
from flashtrain.numerics.state_format import from_scaled, scaled_bits, stochastic_bfloat16
from flashtrain.rtl.die.update.narrow_state import NarrowState
from flashtrain.rtl.die.update.rounding_bits import RoundingBits
from flashtrain.rtl.die.update.scaled_groups import ScaledGroups
from flashtrain.rtl.die.update.scaled_state import LoadScaled, StoreScaled
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import preset
from flashtrain.spec.state_format import E4M3, E5M2, SCALE_GROUP, Rounding
from tests.numerics.test_state_format import any_groups


@pytest.mark.one_simulator
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

    simulate(dut, bench)


def simulate(dut, bench, clock=False):
    simulation = Simulator(dut)
    if clock:
        simulation.add_clock(1e-6)
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
    """Groups of every kind, with the scale that they have, by both roundings; a number per clock."""
    random, dut = np.random.default_rng(seed), StoreScaled()
    groups = any_groups(random, 24)
    groups = np.where(np.isnan(groups), np.uint32(0x7FC00000).view(np.float32), groups).astype(np.float32)
    chance = random.integers(0, 1 << 16, groups.shape, np.uint32)
    bits, by = groups.view(np.uint32).reshape(-1).tolist(), chance.reshape(-1).tolist()

    async def bench(context):
        for variance, form in enumerate((E4M3, E5M2)):
            for rounding in Rounding:
                codes, shared = scaled_bits(form, groups, chance if rounding is Rounding.STOCHASTIC else None)
                scales = shared.repeat(SCALE_GROUP).tolist()
                context.set(dut.rounding, rounding)
                stored = []
                while len(stored) < len(bits) + dut.latency:
                    number = min(len(stored), len(bits) - 1)
                    context.set(dut.variance, variance)
                    context.set(dut.a, bits[number])
                    context.set(dut.random, by[number])
                    context.set(dut.scale, scales[number])
                    context.set(dut.enable, moves := random.random() < 0.9)
                    stored += [context.get(dut.code)] * moves
                    await context.tick()
                assert stored[dut.latency :] == codes.reshape(-1).tolist(), (form, rounding)

    simulate(dut, bench, clock=True)


@pytest.mark.parametrize("both", [False, True])
def test_groups_are_written(seed, both):
    """Words and scales of a tile in their places, whenever numbers come and words are taken."""
    random, dut = np.random.default_rng(seed), ScaledGroups(replace(preset("tiny"), fp8_state=True))
    count, arrays = 6, 1 + both
    first = [0, count * 8, arrays * count * 8, arrays * count * 8 + 2]
    values = np.stack([any_groups(random, count) for _ in range(arrays)])
    values[:, ::2, -1] = 2.0**127  # the scale is that of the last number
    values = np.where(np.isnan(values), np.uint32(0x7FC00000).view(np.float32), values).astype(np.float32)
    chance = random.integers(0, 1 << 16, values.shape, np.uint32)
    expected = {}
    for array, form in enumerate((E4M3, E5M2)[:arrays]):
        codes, scales = scaled_bits(form, values[array], chance[array])
        for at, numbers in ((first[array], codes), (first[2 + array], np.pad(scales.reshape(-1), (0, 2)))):
            words = np.ascontiguousarray(numbers).view("<u4").reshape(-1)
            expected |= dict(enumerate(words.tolist(), at))
    numbers = [values.view(np.uint32).reshape(arrays, -1).tolist(), chance.reshape(arrays, -1).tolist()]

    async def bench(context):
        context.set(dut.both, both)
        context.set(dut.groups, count)
        context.set(dut.rounding, Rounding.STOCHASTIC)
        for number, word in enumerate(first):
            context.set(dut.first[number], word)
        context.set(dut.start, 1)
        await context.tick()
        context.set(dut.start, 0)
        written, put, left = {}, 0, arrays * count * SCALE_GROUP
        busy_percent = int(random.choice([0, 50, 95]))
        for _ in range(40_000):
            array = put % arrays
            context.set(dut.put, puts := put < left and random.random() < 0.7)
            if puts:
                context.set(dut.variance, array)
                context.set(dut.value, numbers[0][array][put // arrays])
                context.set(dut.random, numbers[1][array][put // arrays])
            context.set(dut.write_ready, takes := random.random() * 100 >= busy_percent)
            if takes and context.get(dut.write):
                written[context.get(dut.write_index)] = context.get(dut.result)
            put += puts and context.get(dut.ready)
            await context.tick()
            if put == left and not context.get(dut.busy):
                break
        assert written == expected

    simulate(dut, bench, clock=True)
