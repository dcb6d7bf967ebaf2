"""cocotb tests of the block table, against a dictionary."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.block_table import BlockEntry, BlockPlace
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSource, pack, start
from tests.rtl.channel.bus.nand_helpers import CONFIGS
from tests.rtl.channel.timeout_streams import clock_now, until

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
PLACES = [
    (zone, die, plane)
    for zone in range(GEOMETRY.blocks)
    for die in range(GEOMETRY.dies)
    for plane in range(GEOMETRY.planes)
]


def fields(place: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip(("zone", "die", "plane"), place, strict=True))


LATENCY = 3


async def check(dut, table: dict[tuple[int, int, int], int]) -> None:
    """Ask for every place, one in each clock."""
    places = random.sample(PLACES, len(PLACES))
    for clock in range(len(places) + LATENCY):
        if clock < len(places):
            dut.lookup__place.value = pack(BlockPlace(CONFIG), **fields(places[clock]))
        await RisingEdge(dut.clk)
        if clock >= LATENCY:
            place = places[clock - LATENCY]
            assert dut.lookup__block.value == table[place], place


@cocotb.test()
async def begins_with_the_zones_own_numbers(dut):
    StreamSource(dut, "change")
    await start(dut, lookup__place=0)
    begin = clock_now()
    await until(dut, dut.ready)
    assert clock_now() - begin <= len(PLACES) + 1
    await check(dut, {place: place[0] for place in PLACES})


@cocotb.test()
async def remembers_changes(dut):
    changes = StreamSource(dut, "change", busy=0.5)
    await start(dut, lookup__place=0)
    table = {place: place[0] for place in PLACES}
    for place in random.choices(PLACES, k=len(PLACES) // 2):
        table[place] = random.randrange(GEOMETRY.blocks)
        # A change that is asked for during the sweep waits for its end.
        changes.send(
            pack(BlockEntry(CONFIG), place=pack(BlockPlace(CONFIG), **fields(place)), block=table[place])
        )
    while not changes.empty:
        await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    await check(dut, table)


@cocotb.test()
async def forgets_changes_at_a_reset(dut):
    changes = StreamSource(dut, "change")
    await start(dut, lookup__place=0)
    place = random.choice(PLACES)
    other = (place[0] + 1) % GEOMETRY.blocks
    changes.send(pack(BlockEntry(CONFIG), place=pack(BlockPlace(CONFIG), **fields(place)), block=other))
    while not changes.empty:
        await RisingEdge(dut.clk)
    dut.rst.value = 1
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)
    await until(dut, dut.ready)
    await check(dut, {place: place[0] for place in PLACES})
