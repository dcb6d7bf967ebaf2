"""Operations of the dies, their timing in clocks, and their status."""

import random

import cocotb
from die_configs import BAD_BLOCK, config_named
from nand_driver import started

from flashtrain.sim.bench_parameters import bench_parameters
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
PLANES = range(GEOMETRY.planes)
READY = DieStatus.WP_N | DieStatus.RDY
IDLE = READY | DieStatus.ARDY
SLACK = 2  # clocks from a command to the array, and from the array to RB_n


def page_bytes() -> bytes:
    return random.randbytes(GEOMETRY.raw_page_bytes)


def on_all_planes(block: int) -> list[tuple[int, int]]:
    return [(plane, block) for plane in PLANES]


async def begin(dut):
    """A driver that has selected die 0."""
    driver = await started(dut, CONFIG)
    driver.select(0)
    return driver


async def fresh(driver, *blocks: int) -> None:
    """Erase blocks on all planes: tests share the arrays."""
    for block in blocks:
        await driver.erase(on_all_planes(block))


@cocotb.test()
async def multi_plane_program_and_read(dut):
    nand = await begin(dut)
    await fresh(nand, 1)
    contents = [page_bytes() for _ in PLANES]
    await nand.program(on_all_planes(1), 0, contents, last=C.PROGRAM_CONFIRM)
    assert await nand.status() == IDLE
    await nand.read(on_all_planes(1), 0)
    for plane in reversed(PLANES):
        await nand.choose(plane, 1, 0)
        assert await nand.data_out(len(contents[plane])) == contents[plane]
    assert nand.violations == 0
