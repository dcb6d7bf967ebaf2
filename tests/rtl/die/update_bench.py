"""Updates of tiles on a die: values, copies, statistics, status, and how long they take."""

import random
from collections.abc import Callable
from itertools import product

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters, is_long
from flashtrain.spec.identity import PageIdentity, is_identity
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import Rounding, StateFormat
from flashtrain.spec.update import SourceIdentity, UpdateStatistics
from tests.rounded_state import NARROW, has
from tests.rtl.die.die_configs import BAD_BLOCK, config_named
from tests.rtl.die.update_driver import Step, UpdateDriver, make_step

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
SOURCE, TARGET = 1, 2  # blocks
READY = DieStatus.WP_N | DieStatus.RDY
IDLE = READY | DieStatus.ARDY
SLACK = 3  # cycles of logic in a tile's turn
CONTROLLER = 1200  # cycles that the bench takes, at least, from the end of a tile to the next UPDATE


async def begin(dut) -> tuple[UpdateDriver, np.random.Generator]:
    nand = UpdateDriver(dut, CONFIG)
    await nand.start()
    nand.select(0)
    await nand.reset_die()
    for block in (SOURCE, TARGET):
        await nand.erase([(plane, block) for plane in range(GEOMETRY.planes)])
    return nand, np.random.default_rng(random.getrandbits(32))


async def program_source(
    nand: UpdateDriver, step: Step, tiles: int, spoil: Callable[[np.ndarray], None] | None = None
) -> list[np.ndarray]:
    """Tiles; what the cells hold of them is spoilt."""
    contents = [step.new_tile(page) for page in range(tiles)]
    for page, content in enumerate(contents):
        in_cells = content.copy()
        if spoil:
            spoil(in_cells)
        await nand.program_tile(SOURCE, page, in_cells)
    return contents


async def check_copies(nand: UpdateDriver, expected: bytes) -> None:
    for page, at in enumerate(range(0, len(expected), GEOMETRY.page_bytes)):
        part = expected[at : at + GEOMETRY.page_bytes]
        found = await nand.read_copy(page, GEOMETRY.identified_page_bytes)
        assert found[: len(part)] == part, f"copies on page {page}"


async def run_step(
    nand: UpdateDriver, step: Step, tiles: int, spoil: Callable[[np.ndarray], None] | None = None
) -> list[int]:
    """The whole sequence with all results checked; the cycles in which the die became ready after UPDATEs."""
    contents = await program_source(nand, step, tiles, spoil)
    expected, ready_at = [], []
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    for page, content in enumerate(contents):
        after, copies = step.after(content, page)
        expected.append(after)
        await nand.begin_update((SOURCE, page), (TARGET, page))
        if page + 1 < tiles:
            await nand.load_gradients(step.new_gradients())
        await nand.ready()
        ready_at.append(nand.now)
        await check_copies(nand, copies)
    page = step.statistics().ljust(GEOMETRY.identified_page_bytes, b"\0")
    assert await nand.read_statistics(len(page)) == page
    await nand.confirm(C.UPDATE_END)
    assert await nand.idle() == IDLE
    for page, after in enumerate(expected):
        found = await nand.read_tile(TARGET, page)
        assert np.array_equal(found, after), describe(page, found, after)
    if not spoil:
        for page, content in enumerate(contents):
            assert np.array_equal(await nand.read_tile(SOURCE, page), content), "the source has changed"
    assert nand.violations == 0
    return ready_at


def describe(page: int, found: np.ndarray, after: np.ndarray) -> str:
    differ = np.argwhere(found != after)
    plane, byte = differ[0]
    return f"tile {page}: {len(differ)} bytes differ, the first is byte {byte} of plane {plane}"


async def plane_bits(nand: UpdateDriver, bit: DieStatus) -> list[bool]:
    """That bit of the status of each plane."""
    return [bool(await nand.status(plane, TARGET) & bit) for plane in range(GEOMETRY.planes)]


FORMATS = [(gradient, copy) for gradient in GradientFormat for copy in CopyFormat]


@cocotb.test()
@cocotb.parametrize(code=list(OptimizerCode))
async def values(dut, code):
    """Every optimizer, on whole tiles; the formats change from one to the next."""
    nand, rng = await begin(dut)
    gradient, copy = FORMATS[code % len(FORMATS)]
    await run_step(nand, make_step(CONFIG, code, gradient, copy, rng), 3)


@cocotb.test()
@cocotb.parametrize(formats=range(len(FORMATS)))
async def formats(dut, formats):
    """Every pair of formats, on tiles of which a part is used."""
    nand, rng = await begin(dut)
    code = random.choice(list(OptimizerCode))
    step = make_step(CONFIG, code, *FORMATS[formats], rng)
    step.parameters = random.randint(1, step.parameters)
    await run_step(nand, step, 2)


OF_STATE = [each for each in NARROW if CONFIG.fp8_state or each.moments is not StateFormat.FP8]
STATES = [
    state for state in product(range(len(OF_STATE)), Rounding, (1, 2, 3)) if is_long() or sum(state) % 2
]
"""Pair of formats, rounding, arrays. In short runs half of them, among which any two of the three meet."""


@cocotb.test()
@cocotb.parametrize((("formats", "rounding", "arrays"), STATES))
async def state_formats(dut, formats, rounding, arrays):
    """Every pair of state formats, by both roundings, on whole tiles and on a part of them."""
    nand, rng = await begin(dut)
    of_state = OF_STATE[formats]
    codes = [
        code for code, program in PROGRAMS.items() if len(program.outputs) == arrays and has(code, of_state)
    ]
    copy = random.choice([CopyFormat.NONE, CopyFormat.BF16])
    if of_state.weight is StateFormat.FP32:
        copy = random.choice(list(CopyFormat))
    narrow = of_state.bytes_of(arrays) < 4
    gradient = GradientFormat.BF16 if narrow else random.choice(list(GradientFormat))
    step = make_step(CONFIG, random.choice(codes), gradient, copy, rng, of_state, rounding)
    if random.random() < 0.5:
        multiple = step.tile.multiple
        step.parameters = multiple * random.randint(1, step.parameters // multiple)
        step.surplus = multiple - 1  # a part of a word, or of a group with a scale, does not count
    else:
        step.surplus = random.choice([0, 1, 2, random.getrandbits(30)])
    await run_step(nand, step, 2)


@cocotb.test()
@cocotb.parametrize(code=[OptimizerCode.SGD, OptimizerCode.MOMENTUM, OptimizerCode.ADAM])
async def parameters_beyond_the_tile(dut, code):
    """The die takes as many as fit, and does not wait for what is not there."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, code, *random.choice(FORMATS), rng)
    step.surplus = random.choice([1, (1 << 32) - 1 - step.parameters, random.getrandbits(30)])
    await run_step(nand, step, 2)


def passes(step: Step) -> int:
    """Cycles, at most, that decoder and encoder add to those of the update unit, if nothing is wrong."""
    assert CONFIG.code is not None
    lanes = (CONFIG.code.last_bytes + CONFIG.code.parity_bytes) // 8
    return (2 * step.tile.arrays + 1) * (lanes + 1)


@cocotb.test()
@cocotb.parametrize(
    formats=[
        (OptimizerCode.ADAM, GradientFormat.FP32, CopyFormat.BF16),
        (OptimizerCode.SGD, GradientFormat.BF16, CopyFormat.NONE),
    ]
)
async def the_array_never_rests(dut, formats):
    """From the second tile on a tile takes the time of one sense and one program, or what the unit needs."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, *formats, rng)
    ready_at = await run_step(nand, step, GEOMETRY.pages)
    turns = np.diff(ready_at[1:])
    array = TIMING.cycles("tr") + TIMING.cycles("tprog")
    unit = step.parameters * CONFIG.update_interval * CONFIG.update_divider
    if CONFIG.code:
        unit += passes(step)
    dut._log.info(f"{step.parameters} parameters: {turns} cycles a tile, the array {array}, the unit {unit}")
    if unit + CONTROLLER < TIMING.cycles("tprog"):
        assert max(abs(turns - array)) <= SLACK, turns
    else:
        assert (unit <= turns).all(), turns


@cocotb.test()
async def status_of_programs(dut):
    """FAILC is that of the tile two UPDATEs before; FAIL, when the array is idle, of the last program."""
    nand, rng = await begin(dut)
    await nand.erase([(plane, BAD_BLOCK) for plane in range(GEOMETRY.planes)])
    step = make_step(CONFIG, OptimizerCode.SGD, GradientFormat.BF16, CopyFormat.NONE, rng)
    step.parameters = 8
    await program_source(nand, step, 4)
    await nand.load_constants(step.constants_page)
    fails = [True, False, True, False]
    for tile, fail in enumerate(fails):
        await nand.load_gradients(step.new_gradients())
        await nand.begin_update((SOURCE, tile), (BAD_BLOCK if fail else TARGET, tile // 2))
        status = await nand.status()
        assert not status & DieStatus.RDY
        await nand.ready()
        status = await nand.status()
        assert status & READY == READY
        assert bool(status & DieStatus.FAILC) == (tile >= 2 and fails[tile - 2]), tile
        assert bool(status & DieStatus.ARDY) == (tile == 0), "the tile before is programmed"
    await nand.confirm(C.UPDATE_END)
    status = await nand.status()
    assert status == READY | DieStatus.FAILC, "of the tile before the last"
    assert await nand.idle() == IDLE | DieStatus.FAILC
    assert nand.violations == 0


@cocotb.test()
@cocotb.parametrize(moment=["loading", "sensing", "working", "programming"])
async def reset_ends_everything(dut, moment):
    nand, rng = await begin(dut)
    step = make_step(CONFIG, OptimizerCode.ADAMW, GradientFormat.FP16, CopyFormat.FP16, rng)
    await program_source(nand, step, 2)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    if moment == "programming":
        await nand.begin_update((SOURCE, 0), (TARGET, 0))
        await nand.load_gradients(step.new_gradients())
        await nand.ready()
    if moment != "loading":
        await nand.begin_update((SOURCE, 1), (TARGET, 1))
        cycles = {"sensing": 200, "working": 700, "programming": 1500}[moment]
        await nand.wait(cycles + random.randrange(50))
    await nand.reset_die()
    assert await nand.status() == IDLE
    await nand.wait(3 * TIMING.cycles("tprog"))
    assert await nand.status() == IDLE
    for block in (SOURCE, TARGET):
        await nand.erase([(plane, block) for plane in range(GEOMETRY.planes)])
    after = make_step(CONFIG, OptimizerCode.ADAM, GradientFormat.FP32, CopyFormat.BF16, rng)
    await run_step(nand, after, 2)


@cocotb.test()
async def gradients_loaded_once_more(dut):
    """What is loaded twice before an update counts as loaded last; beyond identities nothing is kept."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, OptimizerCode.SGD, GradientFormat.FP32, CopyFormat.NONE, rng)
    (content,) = await program_source(nand, step, 1)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    step.gradients.clear()
    step.identities.clear()
    pages = step.new_gradients()
    more = GEOMETRY.raw_page_bytes - CONFIG.loaded_page_bytes
    await nand.load_gradients([page + rng.bytes(more) for page in pages])
    await nand.begin_update((SOURCE, 0), (TARGET, 0))
    await nand.ready()
    await nand.confirm(C.UPDATE_END)
    await nand.idle()
    after, _ = step.after(content, 0)
    assert np.array_equal(await nand.read_tile(TARGET, 0), after)
    assert await nand.read_statistics(UpdateStatistics.BYTES) == step.statistics()
    for _ in range(3):
        await RisingEdge(dut.clk)
    assert nand.violations == 0


@cocotb.test()
async def a_damaged_identity_stays_damaged(dut):
    """On every plane, whichever bit it is."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, OptimizerCode.MOMENTUM, GradientFormat.BF16, CopyFormat.NONE, rng)
    step.parameters = 8
    tiles = 3
    await program_source(nand, step, tiles)
    await nand.load_constants(step.constants_page)
    for page in range(tiles):
        first, *others = step.new_gradients()
        at = random.randrange(GEOMETRY.page_bytes, GEOMETRY.identified_page_bytes)
        bit = 1 << random.randrange(8)
        damaged = bytearray(first)
        damaged[at] ^= bit
        await nand.load_gradients([bytes(damaged), *others])
        await nand.begin_update((SOURCE, page), (TARGET, page))
        await nand.ready()
    await nand.confirm(C.UPDATE_END)
    await nand.idle()
    for page in range(tiles):
        for row in await nand.read_tile(TARGET, page):
            assert not is_identity(row[GEOMETRY.page_bytes : GEOMETRY.identified_page_bytes].tobytes())
    assert nand.violations == 0


IDENTITY = slice(GEOMETRY.page_bytes, GEOMETRY.identified_page_bytes)
FIELDS = ("stream", "zone", "page", "channel", "die", "plane", "sequence", "version")
FLAWS = (*FIELDS, "checksum", "zeros", "torn", "erased")


def flawed(step: Step, content: np.ndarray, page: int, plane: int, flaw: str) -> None:
    """What lies on the plane, without its key, is no more what was meant."""
    record = content[plane, IDENTITY]
    if flaw in FIELDS:
        width = getattr(PageIdentity, flaw).width
        bits = 0b10 if flaw == "version" else 1 << random.randrange(width)
        record[:] = step.source_record(page, plane, **{flaw: bits})
    elif flaw == "checksum":
        record[random.randrange(PageIdentity.BYTES)] ^= np.uint8(1 << random.randrange(8))
    elif flaw == "zeros":
        record[:] = 0
    elif flaw == "torn":
        record[random.choice((slice(8), slice(8, 16)))] = 0xFF
    else:
        content[plane] = 0xFF


@cocotb.test()
async def pages_of_another_identity(dut):
    """The status of the tile's program tells of their planes, and none of its pages has an identity; other
    tiles, the sums of gradients and the source are as they would be.
    """
    nand, rng = await begin(dut)
    flaws = random.sample(FLAWS, len(FLAWS))
    while flaws:
        step = make_step(CONFIG, OptimizerCode.MOMENTUM, GradientFormat.BF16, CopyFormat.NONE, rng)
        step.parameters = 8
        contents, wrong = [], []
        for page in range(GEOMETRY.pages):
            content = step.with_key(step.new_tile(page), page)
            planes = random.sample(range(GEOMETRY.planes), random.randint(1, GEOMETRY.planes))
            wrong.append(
                [bool(flaws) and page % 3 != 2 and plane in planes for plane in range(GEOMETRY.planes)]
            )
            for plane in planes if any(wrong[-1]) else ():
                flaw = flaws.pop() if flaws else random.choice(FLAWS)
                dut._log.info(f"tile {page}, plane {plane}: {flaw}")
                flawed(step, content, page, plane, flaw)
            erased = (content == 0xFF).all(axis=1)
            content = step.with_parity(step.with_key(content, page))
            content[erased] = 0xFF
            contents.append(content)
            await nand.program_tile(SOURCE, page, content)
        await nand.load_constants(step.constants_page)
        for page in range(GEOMETRY.pages):
            await nand.load_gradients(step.new_gradients())
            await nand.begin_update((SOURCE, page), (TARGET, page))
            await nand.ready()
            before = wrong[page - 2] if page >= 2 else [False] * GEOMETRY.planes
            assert await plane_bits(nand, DieStatus.FAILC) == before, page
        await nand.confirm(C.UPDATE_END)
        assert await plane_bits(nand, DieStatus.FAILC) == wrong[-2]
        await nand.idle()
        assert await plane_bits(nand, DieStatus.FAIL) == wrong[-1]
        assert await nand.read_statistics(UpdateStatistics.BYTES) == step.statistics()
        for page, content in enumerate(contents):
            assert np.array_equal(await nand.read_tile(SOURCE, page), content), "the source has changed"
            found = await nand.read_tile(TARGET, page)
            if any(wrong[page]):
                assert not step.with_key(found, page)[:, IDENTITY].any()
                assert np.array_equal(found, step.with_parity(found))
            else:
                assert np.array_equal(found, step.after(content, page)[0]), page
        for block in (SOURCE, TARGET):
            await nand.erase([(plane, block) for plane in range(GEOMETRY.planes)])
        assert await nand.status() == IDLE
    assert nand.violations == 0


@cocotb.test()
async def a_damaged_identity_of_the_source_fits_nothing(dut):
    """Whichever bit it is, the tile is damaged on all planes."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, OptimizerCode.MOMENTUM, GradientFormat.BF16, CopyFormat.NONE, rng)
    step.parameters = 8
    await program_source(nand, step, 1)
    await nand.load_constants(step.constants_page)
    first, *others = step.new_gradients()
    bit = random.randrange(sum(getattr(SourceIdentity, name).width for name in step.source))
    damaged = bytearray(first)
    damaged[GEOMETRY.identified_page_bytes + bit // 8] ^= 1 << bit % 8
    await nand.load_gradients([bytes(damaged), *others])
    await nand.begin_update((SOURCE, 0), (TARGET, 0))
    await nand.ready()
    await nand.confirm(C.UPDATE_END)
    await nand.idle()
    assert all(await plane_bits(nand, DieStatus.FAIL))
    assert not step.with_key(await nand.read_tile(TARGET, 0), 0)[:, IDENTITY].any()
