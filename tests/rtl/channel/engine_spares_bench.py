"""A channel engine whose dies have a bad block each, and spares: replaced, used, and found after a reset."""

import cocotb

from flashtrain.rtl.layouts import SpareUse
from flashtrain.sim.bench.streams import StreamSource, pack
from tests.rtl.channel.engine_bench import BAD_ZONE, CAPACITY, CONFIG, Centre, Zone
from tests.rtl.channel.timeout_streams import wait

G = CONFIG.geometry
WRITTEN = Zone(BAD_ZONE)  # the arrays keep it from test to test


async def begin(dut) -> tuple[Centre, StreamSource]:
    uses = StreamSource(dut, "spare_use")
    centre = Centre(dut, busy=0.8)
    await centre.start()
    return centre, uses


async def read_all(centre: Centre) -> None:
    for index in range(CAPACITY):
        centre.read(WRITTEN, index)
    await centre.finish()


async def erase(centre: Centre, zone: int) -> bool:
    """Whether it has passed."""
    before = len(centre.erased.items)
    centre.erase.send(zone)
    await centre.until(lambda: len(centre.erased.items) > before)
    await wait(centre.dut, 50)
    return centre.erased.items[-1] == 0


@cocotb.test()
async def a_bad_block_of_each_die_is_replaced(dut):
    centre, _ = await begin(dut)
    assert await erase(centre, BAD_ZONE)
    counters = await centre.counters()
    assert counters["BLOCKS_REPLACED"] == G.dies
    assert counters["FAILURES"] == 2 * G.dies
    assert counters["ERASES"] == G.dies * (1 + G.planes + 1)
    for _ in range(CAPACITY):
        centre.append(WRITTEN)
    await centre.flush_all()
    await read_all(centre)
    assert (await centre.counters())["FAILURES"] == 2 * G.dies, "a program of the bad block"


@cocotb.test()
async def it_is_found_again_where_recovery_says(dut):
    """Then it is not erased with the spares, and what replaces another block is the next one."""
    centre, uses = await begin(dut)
    for die in reversed(range(G.dies)):
        uses.send(pack(SpareUse(CONFIG), zone=BAD_ZONE, die=die, plane=0, spare=0))
    await centre.until(lambda: uses.empty)
    await read_all(centre)
    for block in G.spares:
        assert await erase(centre, block)
    singles = G.dies * (G.planes * G.spare_blocks - 1)
    assert (await centre.counters())["ERASES"] == singles
    await read_all(centre)


@cocotb.test()
async def each_die_for_itself(dut):
    """Only the last die's spare is told: it alone is left alone."""
    centre, uses = await begin(dut)
    uses.send(pack(SpareUse(CONFIG), zone=BAD_ZONE, die=G.dies - 1, plane=0, spare=0))
    await centre.until(lambda: uses.empty)
    for index in range(CAPACITY):
        if WRITTEN.place(index)["die"] == G.dies - 1:
            centre.read(WRITTEN, index)
    await centre.finish()
    assert await erase(centre, G.zones)
    assert (await centre.counters())["ERASES"] == G.dies * G.planes - 1
