"""Tiles with errors come out as the codec in NumPy corrects them; in which order words are told, and when."""

import random

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start
from tests.rtl.die.coded_tile import Registers, corrected, damage_all, random_tile
from tests.rtl.die.die_configs import config_named

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY = CONFIG.geometry
assert CONFIG.code is not None
CODE = CONFIG.code
CODEC = PageCodec(CODE)
COUNT = GEOMETRY.planes * CODE.words
ITEMS = GEOMETRY.page_bytes // CODE.words // 4
LANES = (CODE.last_bytes + CODE.parity_bytes) // 8
TOLD = 7  # cycles from the last lane of a clean word to `clean`
MOST = GEOMETRY.page_set_bytes // 4
FIRST_BITS = MOST.bit_length()
EVEN = [0, MOST // 3, 2 * (MOST // 3)]  # three arrays of FP32


def order(first: list[int]) -> list[int]:
    """Of the code words: upwards from where w, m and v begin, in turns."""
    places = [word // ITEMS for word in first]
    found: list[int] = []
    while len(found) < COUNT:
        for array in range(3):
            if places[array] % COUNT not in found:
                found.append(places[array] % COUNT)
            places[array] += 1
    return found


def random_places() -> list[int]:
    """The first words of w, m and v in a tile."""
    return sorted(random.randrange(MOST) for _ in range(3))


class Decoder:
    def __init__(self, dut):
        self.dut = dut

    async def begin(self, first: list[int]) -> None:
        dut = self.dut
        dut.first.value, dut.start.value = (
            sum(word << FIRST_BITS * array for array, word in enumerate(first)),
            1,
        )
        await RisingEdge(dut.clk)
        dut.start.value = 0

    async def run(self, first: list[int]) -> dict[int, int]:
        """The clock after `start` from which on each code word is clean."""
        await self.begin(first)
        dut, told = self.dut, {}
        for clock in range(1, 100_000):
            await RisingEdge(dut.clk)
            assert dut.busy.value == 1
            clean = int(dut.clean.value)
            told.update({word: clock for word in range(COUNT) if clean >> word & 1 and word not in told})
            if dut.finished.value == 1:
                assert len(told) == COUNT
                await RisingEdge(dut.clk)
                assert dut.busy.value == 0
                return told
        raise AssertionError("it hangs")

    @property
    def damaged(self) -> set[int]:
        bits = int(self.dut.damaged.value)
        return {plane for plane in range(GEOMETRY.planes) if bits >> plane & 1}


@cocotb.test()
async def clean_tiles(dut):
    """Not a clock is lost between words, and nothing is written."""
    registers = Registers(dut, random_tile(CONFIG, CODEC))
    decoder = Decoder(dut)
    await start(dut, start=0, first=0)
    for first in (EVEN, [0, MOST // 2, MOST // 2], [0, MOST // 3, MOST // 2], random_places()):
        told = await decoder.run(first)
        words = order(first)
        if first == EVEN:
            assert [told[word] for word in words] == [
                2 + LANES * (number + 1) + TOLD for number in range(COUNT)
            ]
        assert sorted(told, key=lambda word: told[word]) == words
        assert decoder.damaged == set() and not registers.written


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def tiles_with_errors(dut, busy):
    t = CODE.strength
    registers = Registers(dut, random_tile(CONFIG, CODEC), busy)
    decoder = Decoder(dut)
    await start(dut, start=0, first=0)
    for counts in ([t], [0, 0, 1, 2, t - 1, t], [0, 1, t + 1, 4 * t], [0]):
        tile = random_tile(CONFIG, CODEC)
        damage_all(tile, CODE, counts)
        expected, damaged = corrected(CODEC, tile)
        registers.tile[:] = tile
        await decoder.run(random_places())
        assert np.array_equal(registers.tile, expected)
        assert decoder.damaged == damaged


@cocotb.test()
async def erased_tiles(dut):
    """They are clean; zeros in them are corrected."""
    registers = Registers(dut, np.full((GEOMETRY.planes, GEOMETRY.raw_page_bytes), 0xFF, np.uint8))
    decoder = Decoder(dut)
    await start(dut, start=0, first=0)
    for counts in ([0], [0, 1, CODE.strength]):
        damage_all(registers.tile, CODE, counts)
        await decoder.run([0, 1, 2])
        assert (registers.tile[:, : CODE.data_bytes] == 0xFF).all()
        assert decoder.damaged == set()
