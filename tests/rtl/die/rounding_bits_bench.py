"""Random bits of tiles, taken at any pace from every third cycle on, with tiles that are aborted."""

import random

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge

from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import start
from flashtrain.spec.state_format import KEY_BITS, PLACE_BITS, random_bits

FIRST, NEXT = 7, 3
"""Cycles from `start`, or from a `take`, to the first cycle in which the next may follow."""


async def pulse(dut, name: str) -> None:
    getattr(dut, name).value = 1
    await RisingEdge(dut.clk)
    getattr(dut, name).value = 0


@cocotb.test()
async def tiles(dut):
    await start(dut, start=0, abort=0, key=0, place=0, take=0)
    for _ in range(rounds(60)):
        key, place = random.getrandbits(KEY_BITS), random.getrandbits(PLACE_BITS)
        await pulse(dut, "start")
        dut.key.value, dut.place.value = key, place  # as in an update lane: a cycle later
        wait = FIRST
        hurried = random.random() < 0.5
        for index in range(random.randrange(40)):
            for clock in range(wait - 1 if hurried else wait - 1 + random.randrange(9)):
                await RisingEdge(dut.clk)
                assert dut.known.value == (clock >= wait - 1), clock
            await pulse(dut, "take")
            assert dut.known.value == 1
            await FallingEdge(dut.clk)
            assert int(dut.bits.value) == random_bits(key, place, index), index
            wait = NEXT
        if random.random() < 0.5:
            for _ in range(random.randrange(12)):
                await RisingEdge(dut.clk)
            await pulse(dut, "abort")
