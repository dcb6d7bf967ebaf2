"""The key of each beat of pages anywhere, with beats at the bus' rate and with pauses."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.rtl.randomizer.keystream import KEY_CYCLES
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start
from flashtrain.spec import preset

CONFIG = preset(bench_parameters()["config"])
GEOMETRY = CONFIG.geometry
BEATS = CONFIG.bus_page_bytes // 2


async def page(dut, busy: float, wait: int = KEY_CYCLES, beats: int = BEATS) -> None:
    """Begin a page, check its first key `wait` cycles later, and all to come. Parity has none."""
    row, plane = random.randrange(GEOMETRY.pages), random.randrange(GEOMETRY.planes)
    keys = page_keys(GEOMETRY, row, plane).view("<u2").tolist()
    dut.restart.value = 1
    await RisingEdge(dut.clk)
    dut.restart.value = 0
    dut.page.value, dut.plane.value = row, plane
    for _ in range(wait - 1):
        await RisingEdge(dut.clk)
    for beat in range(beats):
        while random.random() >= busy:
            dut.advance.value = 0
            await RisingEdge(dut.clk)
        dut.advance.value = 1
        await RisingEdge(dut.clk)
        if beat < len(keys):
            assert dut.key.value == keys[beat], f"beat {beat} of row {row} on plane {plane}"
    dut.advance.value = 0


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.9, 0.3])
async def every_beat(dut, busy):
    """Pages follow each other at once, with parity behind them, and first beats come as early as they may."""
    await start(dut, restart=0, page=0, plane=0, advance=0)
    for _ in range(3):
        await page(dut, busy)


@cocotb.test()
async def pages_that_end_early(dut):
    """A restart forgets what was before, within a word, too; and nothing changes while nothing passes."""
    await start(dut, restart=0, page=0, plane=0, advance=0)
    for _ in range(30):
        await page(dut, random.choice((1, 0.5)), KEY_CYCLES + random.randrange(8), random.randrange(1, 12))
