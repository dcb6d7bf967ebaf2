"""Updates of tiles with a code: what is corrected, what cannot be, and what it takes."""

import random
from math import ceil

import cocotb
import numpy as np

from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.ecc import RAW_BIT_ERROR_RATE
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import PLAIN, Rounding
from tests.rounded_state import has
from tests.rtl.die.coded_tile import corrected, damage, damage_all, with_parity
from tests.rtl.die.die_configs import config_named
from tests.rtl.die.update_bench import (
    IDLE,
    OF_STATE,
    READY,
    SOURCE,
    TARGET,
    begin,
    plane_bits,
    program_source,
    run_step,
)
from tests.rtl.die.update_driver import Step, UpdateDriver, make_step

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
assert CONFIG.code is not None
CODE = CONFIG.code
COUNT = GEOMETRY.planes * CODE.words
ITEMS = GEOMETRY.page_bytes // CODE.words // 4
LANES = (CODE.last_bytes + CODE.parity_bytes) // 8
SWITCHING = 2  # cycles of the sequencer, from UPDATE to the array's start and from the unit's end to RDY


def any_step(rng: np.random.Generator) -> Step:
    """Of an optimizer and formats that fit together."""
    code = random.choice(list(OptimizerCode))
    formats = random.choice([PLAIN, *(each for each in OF_STATE if has(code, each))])
    if formats is PLAIN:
        gradient, copy = random.choice(list(GradientFormat)), random.choice(list(CopyFormat))
    else:
        gradient, copy = GradientFormat.BF16, random.choice([CopyFormat.NONE, CopyFormat.BF16])
    return make_step(CONFIG, code, gradient, copy, rng, formats, random.choice(list(Rounding)))


@cocotb.test()
@cocotb.parametrize(errors=["few", "most"])
async def errors_are_corrected(dut, errors):
    """In data, identity and parity, up to the strength in each code word: nothing of it is to be seen."""
    nand, rng = await begin(dut)
    counts = [CODE.strength] if errors == "most" else [0, 1, 2, CODE.strength]
    await run_step(nand, any_step(rng), 3, lambda tile: damage_all(tile, CODE, counts))


@cocotb.test()
async def a_part_of_a_tile(dut):
    """What is of no parameter is corrected and encoded, too."""
    nand, rng = await begin(dut)
    step = any_step(rng)
    step.parameters = step.tile.multiple * random.randint(0, step.parameters // step.tile.multiple)
    await run_step(nand, step, 2, lambda tile: damage_all(tile, CODE, [0, 1, CODE.strength]))


@cocotb.test()
async def another_row(dut):
    """A tile goes to another row than it comes from."""
    nand, rng = await begin(dut)
    step = any_step(rng)
    step.parameters = step.tile.multiple * random.randint(1, step.parameters // step.tile.multiple)
    await nand.program_tile(SOURCE, 0, step.new_tile(0))
    content = step.new_tile(1, number=0)
    await nand.program_tile(SOURCE, 1, content)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    await nand.begin_update((SOURCE, 1), (TARGET, 0))
    await nand.ready()
    await nand.confirm(C.UPDATE_END)
    assert await nand.idle() == IDLE
    assert np.array_equal(await nand.read_tile(TARGET, 0), step.after(content, 0, rows=(1, 0))[0])


@cocotb.test()
async def erased_source(dut):
    """Nothing but ones is a code word, but no identity: the new tile has none, and parity that fits."""
    nand, rng = await begin(dut)
    step = any_step(rng)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    await nand.begin_update((SOURCE, 0), (TARGET, 0))
    await nand.ready()
    await nand.confirm(C.UPDATE_END)
    assert await nand.idle() == IDLE | DieStatus.FAIL
    assert all(await plane_bits(nand, DieStatus.FAIL))
    found = await nand.read_tile(TARGET, 0)
    assert not step.with_key(found, 0)[:, GEOMETRY.page_bytes : GEOMETRY.identified_page_bytes].any()
    assert np.array_equal(found, step.with_parity(found))


@cocotb.test()
async def uncorrectable_words(dut):
    """The status of the tile's program tells of their planes; none of its pages has an identity, all have
    parity; other tiles, and the sums of gradients, are as they would be.
    """
    nand, rng = await begin(dut)
    step = any_step(rng)
    step.parameters = min(step.parameters, 2 * step.tile.multiple)
    tiles = GEOMETRY.pages
    lost: list[set[int]] = [set() for _ in range(tiles)]

    def spoil(tile: np.ndarray) -> None:
        page = next(pages)
        if page == 1 or page == tiles - 1 or random.random() < 0.3:
            for plane in random.sample(range(GEOMETRY.planes), random.randint(1, GEOMETRY.planes)):
                damage(tile, CODE, plane, random.randrange(CODE.words), CODE.strength + random.randint(1, 3))
        lost[page] = corrected(step.codec, tile)[1]

    pages = iter(range(tiles))
    contents = await program_source(nand, step, tiles, spoil)
    assert lost[1] or lost[tiles - 1]
    await nand.load_constants(step.constants_page)
    for page in range(tiles):
        await nand.load_gradients(step.new_gradients())
        await nand.begin_update((SOURCE, page), (TARGET, page))
        await nand.ready()
        status = await nand.status()
        assert status & READY == READY
        before = lost[page - 2] if page >= 2 else set()
        assert bool(status & DieStatus.FAILC) == bool(before), page
        expected = [plane in before for plane in range(GEOMETRY.planes)]
        assert await plane_bits(nand, DieStatus.FAILC) == expected
    await nand.confirm(C.UPDATE_END)
    assert bool(await nand.status() & DieStatus.FAILC) == bool(lost[-2])
    assert bool(await nand.idle() & DieStatus.FAIL) == bool(lost[-1])
    assert await plane_bits(nand, DieStatus.FAIL) == [plane in lost[-1] for plane in range(GEOMETRY.planes)]
    assert (await nand.read_statistics(len(step.statistics()))) == step.statistics()
    identity = slice(GEOMETRY.page_bytes, GEOMETRY.identified_page_bytes)
    for page, content in enumerate(contents):
        found = await nand.read_tile(TARGET, page)
        if lost[page]:
            assert not step.with_key(found, page)[:, identity].any()
            assert np.array_equal(found, with_parity(step.codec, found))
        else:
            assert np.array_equal(found, step.after(content, page)[0]), page
    # What the array does next is judged by itself.
    await nand.erase([(plane, TARGET) for plane in range(GEOMETRY.planes)])
    assert await nand.status() == IDLE
    assert nand.violations == 0


@cocotb.test()
@cocotb.parametrize(part=[0.1, 0.4, 0.7, 1])
async def reset_in_between(dut, part):
    """The next update knows nothing of it, whatever was being decoded, corrected, computed or encoded."""
    nand, rng = await begin(dut)
    await program_source(
        nand, step := any_step(rng), 2, lambda tile: damage_all(tile, CODE, [0, CODE.strength])
    )
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    await nand.begin_update((SOURCE, 0), (TARGET, 0))
    await nand.load_gradients(step.new_gradients())
    await nand.ready()
    await nand.begin_update((SOURCE, 1), (TARGET, 1))
    longest = TIMING.cycles("tr") + step.parameters * CONFIG.update_interval * CONFIG.update_divider
    await nand.wait(TIMING.cycles("tr") + random.randrange(round(part * longest)))
    await nand.reset_die()
    assert await nand.status() == IDLE
    for block in (SOURCE, TARGET):
        await nand.erase([(plane, block) for plane in range(GEOMETRY.planes)])
    await run_step(nand, any_step(rng), 2, lambda tile: damage_all(tile, CODE, [0, 1, CODE.strength]))


def cycles_of_first_update(step: Step) -> int:
    """Cycles of a clean tile from `start` on, by the data sheets of sequencer, unit, decoder and encoder."""
    unit, divider = UpdateUnit(CONFIG.update_interval), CONFIG.update_divider
    n, arrays = step.parameters, step.tile.arrays
    # Words are decoded one after the other from where arrays begin, if they are in FP8 or not; the sequencer
    # reads its first parameter.
    first = [array * n for array in range(3)]
    if CONFIG.fp8_state:
        first.append(first[-1] + n // 4 * (arrays == 3))
        first.append(first[-1] + ceil(n / 128))
    order: list[int] = []
    for word in [word // ITEMS % COUNT for word in first]:
        if word not in order:
            order.append(word)
    clock = 0
    for array in range(arrays):
        clean = 2 + LANES * (order.index(array * n // ITEMS % COUNT) + 1) + 7
        clock = max(clock + 1, clean)
    # The unit's clock rises with every `divider`-th bus clock, and it takes a parameter with every
    # `interval`-th rise.
    clock += 3
    clock += (clock - 1) % divider == 0
    taken = ceil(clock / divider)
    taken += (1 - taken) % unit.interval
    last = taken * divider + (n - 1) * unit.interval * divider
    written = last + unit.latency[step.code] * divider + arrays + 1
    schedule = unit.schedule
    stages = max(schedule.squares[1] + schedule.timing.multiply_add, *unit.latency.values())
    walked = max(last + unit.interval * ceil(stages / unit.interval) * divider + 1, written)
    # Those that were passed are encoded by then: all but the words in which arrays end.
    passed = {
        word for word in range(COUNT)
        for array in range(arrays)
        if array * n <= word * ITEMS and (word + 1) * ITEMS < (array + 1) * n
    }  # fmt: skip
    return walked + 1 + (COUNT - len(passed)) * (LANES + 1) + 1


async def cycles_of_update(nand: UpdateDriver, step: Step, spoil=None) -> int:
    """From `start` until all is written, of a single tile."""
    await program_source(nand, step, 1, spoil)
    await nand.load_constants(step.constants_page)
    await nand.load_gradients(step.new_gradients())
    await nand.begin_update((SOURCE, 0), (TARGET, 0))
    return await nand.ready() - TIMING.cycles("tr") - SWITCHING


@cocotb.test()
@cocotb.parametrize(code=[OptimizerCode.ADAM, OptimizerCode.MOMENTUM, OptimizerCode.SGD])
async def cycles(dut, code):
    """Of clean tiles, to the clock."""
    nand, rng = await begin(dut)
    step = make_step(CONFIG, code, GradientFormat.BF16, CopyFormat.NONE, rng)
    expected = cycles_of_first_update(step)
    taken = await cycles_of_update(nand, step)
    dut._log.info(f"{step.parameters} parameters: {taken} cycles")
    assert taken == expected


@cocotb.test()
@cocotb.parametrize(errors=["usual", "most"])
async def cycles_with_errors(dut, errors):
    """The sequencer waits for its first words. Later ones are corrected before it needs them, if errors are
    as frequent as the code is made for.
    """
    nand, rng = await begin(dut)
    step = make_step(CONFIG, OptimizerCode.ADAM, GradientFormat.BF16, CopyFormat.NONE, rng)
    bits = CODE.word_bits(CODE.words - 1)
    counts = list(map(int, rng.binomial(bits, RAW_BIT_ERROR_RATE, 100)))

    def spoil(tile: np.ndarray) -> None:
        damage_all(tile, CODE, counts if errors == "usual" else [CODE.strength])

    taken = await cycles_of_update(nand, step, spoil)
    clean = cycles_of_first_update(step)
    dut._log.info(f"{step.parameters} parameters: {taken} cycles; {clean} if they were clean")
    word = 3 * CODE.strength**2 + bits // 8 + 3 * CODE.strength  # solver, search, corrections
    if errors == "usual":
        assert clean <= taken <= clean + 3 * word
    else:
        assert taken <= clean + COUNT * word
