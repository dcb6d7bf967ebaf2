"""Words get the parity that the codec in NumPy gives them, once they do not change any more."""

import random

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start
from tests.rtl.die.coded_tile import Registers, random_tile, with_parity
from tests.rtl.die.die_configs import config_named

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY = CONFIG.geometry
assert CONFIG.code is not None
CODE = CONFIG.code
CODEC = PageCodec(CODE)
COUNT = GEOMETRY.planes * CODE.words
LANES = (CODE.last_bytes + CODE.parity_bytes) // 8
PARITY_LANES = CODE.parity_bytes // 8
FIRST_PARITY = CODE.data_bytes // 8


def new_tile() -> np.ndarray:
    """Its parity is that of another one."""
    tile, other = random_tile(CONFIG, CODEC), random_tile(CONFIG, CODEC)
    tile[:, CODE.data_bytes : CODE.page_bytes] = other[:, CODE.data_bytes : CODE.page_bytes]
    return tile


async def begin(dut, busy: float = 1) -> Registers:
    registers = Registers(dut, new_tile(), busy)
    await start(dut, start=0, allowed=0, passed=0, passed_word=0, all_passed=0)
    return registers


async def pulse(dut, name: str, **others: int) -> None:
    for other, value in others.items():
        getattr(dut, other).value = value
    getattr(dut, name).value = 1
    await RisingEdge(dut.clk)
    getattr(dut, name).value = 0


async def end(dut) -> int:
    """Cycles until it is not busy any more."""
    for clock in range(100_000):
        await RisingEdge(dut.clk)
        if dut.busy.value == 0:
            return clock
    raise AssertionError("it hangs")


def word_is_right(registers: Registers, number: int) -> bool:
    plane, word = divmod(number, CODE.words)
    right = with_parity(CODEC, registers.tile)
    return np.array_equal(registers.tile[plane, CODE.parity(word)], right[plane, CODE.parity(word)])


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def whole_tiles(dut, busy):
    """All at once, without a gap."""
    registers = await begin(dut, busy)
    for _ in range(2):
        registers.tile[:] = new_tile()
        expected = with_parity(CODEC, registers.tile)
        dut.allowed.value = dut.all_passed.value = 0
        await pulse(dut, "start")
        dut.allowed.value = 1
        for _ in range(random.randrange(5)):
            await RisingEdge(dut.clk)
        assert not registers.written
        dut.all_passed.value = 1
        cycles = await end(dut)
        if busy == 1:
            assert cycles == 1 + COUNT * (LANES + 1) + 1
        assert np.array_equal(registers.tile, expected)
        registers.written.clear()


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def word_by_word(dut, busy):
    """Each is encoded as soon as it has been passed, and none before; the rest at the end."""
    registers = await begin(dut, busy)
    await pulse(dut, "start")
    dut.allowed.value = 1
    passed = random.sample(range(COUNT), max(1, COUNT // 2))
    for number in passed:
        registers.written.clear()
        await pulse(dut, "passed", passed_word=number)
        for clock in range(1, 20 * LANES):
            await RisingEdge(dut.clk)
            if len(registers.written) == PARITY_LANES:
                assert busy < 1 or clock == 2 + LANES  # the registers look before the test does
                break
        plane, word = divmod(number, CODE.words)
        first = FIRST_PARITY + word * PARITY_LANES
        assert registers.written == {(plane, first + lane) for lane in range(PARITY_LANES)}
        assert word_is_right(registers, number)
        for _ in range(random.randrange(20)):
            await RisingEdge(dut.clk)
        assert dut.busy.value == 1 or len(passed) == COUNT
    # What has been encoded is not looked at again.
    kept = registers.tile.copy()
    for number in passed:
        plane, word = divmod(number, CODE.words)
        registers.tile[plane, CODE.data(word)] ^= 0xFF
    dut.all_passed.value = 1
    cycles = await end(dut)
    if busy == 1 and len(passed) < COUNT:
        assert cycles == 1 + (COUNT - len(passed)) * (LANES + 1) + 1
    for number in range(COUNT):
        plane, word = divmod(number, CODE.words)
        if number in passed:
            registers.tile[plane, CODE.data(word)] = kept[plane, CODE.data(word)]
        assert word_is_right(registers, number)


@cocotb.test()
async def not_before_it_is_allowed(dut):
    registers = await begin(dut)
    await pulse(dut, "start")
    await pulse(dut, "passed", passed_word=COUNT - 1)
    dut.all_passed.value = 1
    for _ in range(3 * LANES):
        await RisingEdge(dut.clk)
    assert not registers.written
    dut.allowed.value = 1
    await end(dut)
    assert np.array_equal(registers.tile, with_parity(CODEC, registers.tile))
