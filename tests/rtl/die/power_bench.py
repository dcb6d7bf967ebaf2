"""The power fails while the array works: what the cells hold afterwards, and what is refused.

`rst` of die and array stands for it. Moments are random.
"""

import random

import cocotb
import numpy as np

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from tests.rtl.die.die_configs import config_named
from tests.rtl.die.update_bench import program_source, run_step
from tests.rtl.die.update_driver import UpdateDriver, make_step

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
PLANES = GEOMETRY.planes
OLD, NEW = 1, 2  # blocks
NOTHING = b"\xff" * GEOMETRY.raw_page_bytes
IDLE = DieStatus.WP_N | DieStatus.RDY | DieStatus.ARDY


def on_all_planes(block: int) -> list[tuple[int, int]]:
    return [(plane, block) for plane in range(PLANES)]


def new_set() -> list[bytes]:
    return [random.randbytes(GEOMETRY.raw_page_bytes) for _ in range(PLANES)]


class Cells:
    """What a driver reads and writes, a page set at a time."""

    def __init__(self, nand: UpdateDriver):
        self.nand = nand

    async def program(self, block: int, page: int) -> list[bytes]:
        contents = new_set()
        await self.nand.program(on_all_planes(block), page, contents, last=C.PROGRAM_CONFIRM)
        return contents

    async def hold(self, block: int, page: int, contents: list[bytes]) -> None:
        found = [row.tobytes() for row in await self.nand.read_tile(block, page)]
        assert found == contents, f"block {block} page {page}"

    async def hold_nothing(self, block: int, page: int) -> None:
        await self.hold(block, page, [NOTHING] * PLANES)

    async def hold_part(self, block: int, page: int, contents: list[bytes]) -> None:
        """Some of the zeros."""
        for found, content in zip(await self.nand.read_tile(block, page), contents, strict=True):
            assert np.array_equal(found | np.frombuffer(content, np.uint8), found), (
                f"block {block} page {page}"
            )

    async def next_page_is(self, block: int, page: int) -> None:
        """It can be programmed, what comes before it cannot."""
        before = self.nand.violations
        if page > 0:
            await self.program(block, page - 1)
            assert self.nand.violations == before + PLANES, f"page {page - 1} can be programmed"
        before = self.nand.violations
        if page < GEOMETRY.pages:
            contents = await self.program(block, page)
            await self.hold(block, page, contents)
            assert self.nand.violations == before, f"page {page} cannot be programmed"


async def begin(dut) -> tuple[UpdateDriver, Cells, list[bytes]]:
    """Block OLD holds a page set, block NEW nothing."""
    nand = UpdateDriver(dut, CONFIG)
    await nand.start()
    nand.select(0)
    for block in (OLD, NEW):
        await nand.erase(on_all_planes(block))
    cells = Cells(nand)
    return nand, cells, await cells.program(OLD, 0)


async def maybe_suspend(nand: UpdateDriver, suspended: bool, block: int) -> None:
    """The power fails before, in or after a suspension."""
    if suspended:
        await nand.begin_suspended_read(on_all_planes(block), 0)
        suspension = sum(TIMING.cycles(name) for name in ("tadv", "tsusp", "tr", "tres"))
        await nand.wait(random.randrange(suspension))
    await nand.power_cycle()
    assert await nand.status() == IDLE


@cocotb.test()
@cocotb.parametrize(suspended=[False, True])
async def programs(dut, suspended):
    """The page set under way is torn; of the one that waits, and of one being loaded, there is no trace."""
    nand, cells, old = await begin(dut)
    for waits in (True, False):
        await nand.erase(on_all_planes(NEW))
        contents = new_set()
        await nand.program(on_all_planes(NEW), 0, contents)
        started = nand.last_we
        for plane, content in enumerate(new_set()):
            await nand.load(plane, NEW, 1, content)
            if plane < PLANES - 1:
                await nand.confirm(C.PROGRAM_MULTI_PLANE)
        if waits:
            await nand.command(C.PROGRAM_CACHE)
            await nand.wait(TIMING.cycles("twb"))
        await nand.wait(random.randrange(200))
        assert nand.now - started < TIMING.cycles("tprog") - 300, "the bench is too slow"
        await maybe_suspend(nand, suspended, OLD)
        await cells.hold_part(NEW, 0, contents)
        for page in range(1, GEOMETRY.pages):
            await cells.hold_nothing(NEW, page)
        await cells.hold(OLD, 0, old)
        assert nand.violations == 0
    await cells.next_page_is(NEW, 1)


@cocotb.test()
async def a_single_plane(dut):
    """The other planes know nothing of its program; right after its start, and right before its end.

    Under Verilator the page looks whole when little time is left, and empty when little has passed.
    """
    nand, cells, _ = await begin(dut)
    for moment in (0, 1, TIMING.cycles("tprog") - 20):
        await nand.erase(on_all_planes(NEW))
        content = random.randbytes(GEOMETRY.raw_page_bytes)
        await nand.load(PLANES - 1, NEW, 0, content)
        await nand.command(C.PROGRAM_CONFIRM)
        await nand.wait(5 + moment)
        await nand.power_cycle()
        contents = [NOTHING] * (PLANES - 1) + [content]
        await cells.hold_part(NEW, 0, contents)
        if moment < 2:
            empty = (await nand.read_tile(NEW, 0)).tobytes().count(0xFF)
            assert empty > 0.9 * PLANES * GEOMETRY.raw_page_bytes
        elif bench_parameters()["verilator"]:
            await cells.hold(NEW, 0, contents)
        await nand.program([(0, NEW)], 0, [NOTHING], last=C.PROGRAM_CONFIRM)
        assert nand.violations == 0
        await nand.program([(PLANES - 1, NEW)], 1, [NOTHING], last=C.PROGRAM_CONFIRM)
        assert nand.violations == 0
    await nand.program([(PLANES - 1, NEW)], 0, [NOTHING], last=C.PROGRAM_CONFIRM)
    assert nand.violations == 1


@cocotb.test()
@cocotb.parametrize(suspended=[False, True])
async def erases(dut, suspended):
    """The block keeps some of the zeros, and wants an erase before the next program."""
    nand, cells, old = await begin(dut)
    kept = await cells.program(NEW, 0)
    await nand.command(C.ERASE)
    await nand.address(nand.row(0, OLD, 0), 3)
    await nand.confirm(C.ERASE_MULTI_PLANE)
    for plane in range(1, PLANES):
        await nand.command(C.ERASE)
        await nand.address(nand.row(plane, OLD, 0), 3)
        await nand.command(C.ERASE_CONFIRM if plane == PLANES - 1 else C.ERASE_MULTI_PLANE)
        await nand.wait(TIMING.cycles("twb"))
    await nand.wait(random.randrange(TIMING.cycles("tbers") // 2))
    await maybe_suspend(nand, suspended, NEW)
    await cells.hold_part(OLD, 0, old)
    for page in range(1, GEOMETRY.pages):
        await cells.hold_nothing(OLD, page)
    await cells.hold(NEW, 0, kept)
    assert nand.violations == 0
    await cells.next_page_is(OLD, GEOMETRY.pages)
    await nand.erase(on_all_planes(OLD))
    await cells.next_page_is(OLD, 0)
    await cells.next_page_is(NEW, 1)


@cocotb.test()
async def what_nobody_can_know(dut):
    """A page that was not programmed may be sensed until its block is programmed or erased."""
    nand, cells, old = await begin(dut)

    async def refused(block: int, page: int) -> int:
        before = nand.violations
        await cells.hold_nothing(block, page)
        await nand.begin_suspended_read(on_all_planes(block), page)
        await nand.suspended_read_done()
        assert await nand.take_suspended_read(on_all_planes(block), page) == [NOTHING] * PLANES
        return nand.violations - before

    async def forget_by_power() -> None:
        await nand.power_cycle()

    async def forget_by_reset() -> None:
        await nand.reset_die()

    assert await refused(NEW, 0) == await refused(OLD, 1) == 2 * PLANES
    for forget in (forget_by_power, forget_by_reset):
        await forget()
        assert await refused(NEW, 0) == await refused(OLD, 1) == 0
        await cells.hold(OLD, 0, old)
        await nand.erase(on_all_planes(NEW))
        assert await refused(NEW, 0) == 2 * PLANES
        assert await refused(OLD, 1) == 0
    await cells.program(OLD, 1)
    assert await refused(OLD, 2) == 2 * PLANES


@cocotb.test()
@cocotb.parametrize(moment=["sensing", "working", "programming", "last"])
async def updates(dut, moment):
    """The source is whole; of the target the tiles whose programs had ended are, with their identities; the
    one that is programmed is torn."""
    nand, cells, _ = await begin(dut)
    await nand.erase(on_all_planes(OLD))
    rng = np.random.default_rng(random.getrandbits(32))
    step = make_step(CONFIG, OptimizerCode.ADAM, GradientFormat.FP16, CopyFormat.BF16, rng)
    contents = await program_source(nand, step, 2)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    await nand.begin_update((OLD, 0), (NEW, 0))
    tr, tprog = TIMING.cycles("tr"), TIMING.cycles("tprog")
    whole, spent = 0, 0  # tiles
    match moment:
        case "sensing":
            await nand.wait(random.randrange(tr - 100))
        case "working":
            await nand.wait(tr + random.randrange(100, 800))
        case "programming":
            await nand.load_gradients(step.new_gradients())
            await nand.ready()
            await nand.begin_update((OLD, 1), (NEW, 1))
            await nand.wait(tr + random.randrange(tprog - 100))
            spent = 1
        case "last":
            await nand.load_gradients(step.new_gradients())
            await nand.ready()
            await nand.begin_update((OLD, 1), (NEW, 1))
            await nand.ready()
            await nand.confirm(C.UPDATE_END)
            await nand.wait(random.randrange(tprog - 500))
            whole, spent = 1, 1
    await nand.power_cycle()
    assert await nand.status() == IDLE
    for page, content in enumerate(contents):
        assert np.array_equal(await nand.read_tile(OLD, page), content), "the source has changed"
    for page in range(whole):
        after, _ = step.after(contents[page], page)
        assert np.array_equal(await nand.read_tile(NEW, page), after), page
    for page in range(whole, whole + spent):
        after, _ = step.after(contents[page], page)
        await cells.hold_part(NEW, page, [row.tobytes() for row in after])
    for page in range(whole + spent, GEOMETRY.pages):
        await cells.hold_nothing(NEW, page)
    assert nand.violations == 0
    await cells.next_page_is(NEW, whole + spent)

    # And all goes on as ever.
    assert nand.violations == (PLANES if whole + spent else 0)
    nand.forgive()
    for block in (OLD, NEW):
        await nand.erase(on_all_planes(block))
    await run_step(nand, make_step(CONFIG, *random_formats(), rng), 2)


def random_formats() -> tuple[OptimizerCode, GradientFormat, CopyFormat]:
    return tuple(random.choice(list(kind)) for kind in (OptimizerCode, GradientFormat, CopyFormat))
