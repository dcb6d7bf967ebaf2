"""Operations of the dies, their timing in cycles, and their status."""

import random

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus
from tests.rtl.die.die_configs import BAD_BLOCK, config_named
from tests.rtl.die.nand_driver import started

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
PLANES = range(GEOMETRY.planes)
READY = DieStatus.WP_N | DieStatus.RDY
IDLE = READY | DieStatus.ARDY
SLACK = 2  # cycles from a command to the array, and from the array to RB_n


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


@cocotb.test()
async def busy_times(dut):
    """RB_n is low for as long as the timing says, and a few cycles of logic."""
    nand = await begin(dut)
    await fresh(nand, 1)

    def near(busy: int, name: str) -> None:
        assert 0 <= busy - TIMING.cycles(name) <= SLACK, (
            f"busy for {busy} cycles, {name} is {TIMING.cycles(name)}"
        )

    near(await nand.program([(0, 1)], 0, [page_bytes()], last=C.PROGRAM_CONFIRM), "tprog")
    near(await nand.read([(0, 1)], 0), "tr")
    near(await nand.erase([(0, 1)]), "tbers")
    await nand.load(0, 1, 0, page_bytes())
    near(await nand.confirm(C.PROGRAM_MULTI_PLANE), "tdbsy")
    await nand.load(1, 1, 0, page_bytes())
    near(await nand.confirm(C.PROGRAM_CACHE), "tcbsy")
    near(await nand.reset_die(), "trst")
    assert await nand.status() == IDLE
    assert nand.violations == 0


@cocotb.test()
async def cache_program_keeps_the_array_busy(dut):
    """Set after set: the array starts the next one in the clock in which it ends the one before."""
    nand = await begin(dut)
    await fresh(nand, 1)
    places = on_all_planes(1)[:2]  # loaded in less than tPROG
    contents = [[page_bytes() for _ in places] for _ in range(GEOMETRY.pages)]
    for page in range(GEOMETRY.pages):
        busy = await nand.program(places, page, contents[page])
        if page == 0:
            started = nand.last_we
            assert busy <= TIMING.cycles("tcbsy") + SLACK, "an idle array starts at once"
    while not await nand.status() & DieStatus.ARDY:
        pass
    programming = GEOMETRY.pages * TIMING.cycles("tprog")
    poll = 300
    cycles = nand.now - started
    assert programming <= cycles <= programming + poll, f"{cycles} cycles instead of {programming}"

    for page in range(GEOMETRY.pages):
        await nand.read(places, page)
        for plane, block in places:
            await nand.choose(plane, block, page)
            assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[page][plane]
    assert nand.violations == 0


@cocotb.test()
async def cache_read_senses_behind_the_output(dut):
    """After the first page set each next one costs tCBSY, the array senses while the last is output."""
    nand = await begin(dut)
    await fresh(nand, 1)
    contents = [[page_bytes() for _ in PLANES] for _ in range(GEOMETRY.pages)]
    for page in range(GEOMETRY.pages):
        await nand.program(on_all_planes(1), page, contents[page], last=C.PROGRAM_CONFIRM)
    await nand.read(on_all_planes(1), 0)
    for page in range(GEOMETRY.pages):
        last = page == GEOMETRY.pages - 1
        busy = await nand.confirm(C.READ_CACHE_END if last else C.READ_CACHE)
        assert 0 <= busy - TIMING.cycles("tcbsy") <= SLACK
        assert bool(await nand.status() & DieStatus.ARDY) is last
        for plane in PLANES:
            await nand.choose(plane, 1, page)
            assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[page][plane]
    assert nand.violations == 0


@cocotb.test()
async def a_cache_read_waits_for_the_array(dut):
    """Without output in between, 31h takes as long as the sense before."""
    nand = await begin(dut)
    await fresh(nand, 1)
    contents = [page_bytes() for _ in range(3)]
    for page, content in enumerate(contents):
        await nand.program([(0, 1)], page, [content], last=C.PROGRAM_CONFIRM)
    await nand.read([(0, 1)], 0)
    await nand.confirm(C.READ_CACHE)
    first = nand.last_we
    await nand.confirm(C.READ_CACHE)
    assert 0 <= nand.now - first - TIMING.cycles("tr") <= TIMING.cycles("tcbsy") + 4 * SLACK
    # Of a single plane the output needs no selection.
    assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[1]
    await nand.confirm(C.READ_CACHE_END)
    assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[2]
    assert nand.violations == 0


@cocotb.test()
async def random_cache_read(dut):
    """00h..31h: any page may be sensed while another is output."""
    nand = await begin(dut)
    await fresh(nand, 1, 2)
    contents = {}
    for block in (1, 2):
        for page in range(2):
            contents[block, page] = [page_bytes() for _ in PLANES]
            await nand.program(on_all_planes(block), page, contents[block, page], last=C.PROGRAM_CONFIRM)
    order = [(2, 1), (1, 0), (2, 0), (1, 1)]
    await nand.read(on_all_planes(2), 1)
    for before, after in zip(order, [*order[1:], None], strict=True):
        if after is None:
            await nand.confirm(C.READ_CACHE_END)
        else:
            await nand.read(on_all_planes(after[0]), after[1], last=C.READ_CACHE)
        for plane in PLANES:
            await nand.choose(plane, *before)
            assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[before][plane]
    assert nand.violations == 0


@cocotb.test()
async def a_page_is_copied_within_its_plane(dut):
    """Spare bytes included, busy for tR and tPROG."""
    if not GEOMETRY.spare_blocks:
        return
    nand = await begin(dut)
    await fresh(nand, 1, 2)
    contents = [page_bytes() for _ in range(2)]
    for page, content in enumerate(contents):
        await nand.program([(1, 1)], page, [content], last=C.PROGRAM_CONFIRM)
    for page in range(2):
        sensing = await nand.copy_from(1, 1, page)
        assert await nand.status() == IDLE
        programming = await nand.copy_to(1, 2, page)
        for busy, name in ((sensing, "tr"), (programming, "tprog")):
            assert 0 <= busy - TIMING.cycles(name) <= SLACK, f"busy for {busy} cycles, {name}"
        assert await nand.status() == IDLE
    for block in (1, 2):
        for page, content in enumerate(contents):
            await nand.read([(1, block)], page)
            assert await nand.data_out(GEOMETRY.raw_page_bytes) == content
    await fresh(nand, BAD_BLOCK)
    await nand.copy_from(1, 1, 0)
    await nand.copy_to(1, BAD_BLOCK, 0)
    assert await nand.status() == IDLE | DieStatus.FAIL
    assert nand.violations == 0


@cocotb.test()
async def columns(dut):
    """Input and output from columns within the page; what is not written is FFh."""
    nand = await begin(dut)
    await fresh(nand, 1)
    size, word = GEOMETRY.raw_page_bytes, CONFIG.die_word_bytes
    far = size - 3 * word  # the page is made FFh from the column on, and round
    first, second = random.randbytes(2 * word), random.randbytes(8)
    await nand.command(C.PROGRAM)
    await nand.full_address(1, 1, 0, column=far)
    await nand.data_in(first)
    await nand.command(C.CHANGE_WRITE_COLUMN)
    await nand.address(word, 2)
    await nand.data_in(second, after=TIMING.cycles("tccs"))
    await nand.confirm(C.PROGRAM_CONFIRM)
    expected = bytearray(b"\xff" * size)
    expected[far : far + 2 * word] = first
    expected[word : word + 8] = second

    await nand.read([(1, 1)], 0, column=2 * word)
    assert await nand.data_out(4 * word) == expected[2 * word : 6 * word]
    await nand.change_read_column(0)
    assert await nand.data_out(size) == expected
    await nand.change_read_column(size - word)
    assert await nand.data_out(word // 2) == expected[size - word : size - word // 2]
    assert DieStatus.RDY in await nand.status()
    await nand.back_to_output()
    assert await nand.data_out(word // 2) == expected[size - word // 2 :]
    assert nand.violations == 0


@cocotb.test()
async def failures_by_plane(dut):
    """FAIL is of the last operation, FAILC of the cache program before; 78h tells the planes apart."""
    nand = await begin(dut)
    good, bad = 1, BAD_BLOCK
    await fresh(nand, good)
    assert await nand.erase(on_all_planes(bad)) >= TIMING.cycles("tbers")
    assert await nand.status() == IDLE | DieStatus.FAIL
    assert [await nand.status(plane, bad) for plane in (0, 1)] == [IDLE, IDLE | DieStatus.FAIL]

    # A failing program between two good ones.
    await nand.program(on_all_planes(good), 0, [page_bytes() for _ in PLANES])
    assert await nand.status() == READY, "neither is valid yet"
    await nand.program(on_all_planes(bad), 0, [page_bytes() for _ in PLANES])
    assert await nand.status() == READY, "the first has passed"
    await nand.program(on_all_planes(good), 1, [page_bytes() for _ in PLANES])
    assert await nand.status() == READY | DieStatus.FAILC
    assert [await nand.status(plane, bad) for plane in (0, 1)] == [READY, READY | DieStatus.FAILC]
    assert await nand.idle() == IDLE | DieStatus.FAILC, "the last has passed, the one before has not"

    # The failing one at the end, with 10h.
    await nand.program(on_all_planes(good), 2, [page_bytes() for _ in PLANES])
    await nand.program(on_all_planes(bad), 1, [page_bytes() for _ in PLANES], last=C.PROGRAM_CONFIRM)
    assert await nand.status() == IDLE | DieStatus.FAIL
    await nand.program([(0, bad)], 2, [page_bytes()], last=C.PROGRAM_CONFIRM)
    assert await nand.status() == IDLE, "the bad block is on another plane"
    await nand.read(on_all_planes(good), 0)
    assert await nand.status() == IDLE
    assert nand.violations == 0


@cocotb.test()
async def identity(dut):
    nand = await begin(dut)
    for address, answer in [(0x20, b"ONFI"), (0x00, bytes([0x46, 0x54, 0, 0]))]:
        await nand.command(C.READ_ID)
        await nand.address(address, 1)
        nand.data_from = nand.last_we + nand.cycles("twhr")
        assert (await nand.data_out(8))[::2] == answer
    assert nand.violations == 0


@cocotb.test()
async def reset_aborts(dut):
    """A reset ends a program at once; its page is torn at most, and an erase makes the block whole."""
    nand = await begin(dut)
    await fresh(nand, 1)
    content = page_bytes()
    await nand.program([(0, 1)], 0, [content])
    assert DieStatus.ARDY not in await nand.status()
    assert await nand.reset_die() <= TIMING.cycles("trst") + SLACK
    assert await nand.status() == IDLE
    await nand.read([(0, 1)], 0)
    torn = await nand.data_out(GEOMETRY.raw_page_bytes)
    assert all(found & written == written for found, written in zip(torn, content, strict=True))
    await fresh(nand, 1)
    content = page_bytes()
    await nand.program([(0, 1)], 0, [content], last=C.PROGRAM_CONFIRM)
    await nand.read([(0, 1)], 0)
    assert await nand.data_out(GEOMETRY.raw_page_bytes) == content
    assert nand.violations == 0


@cocotb.test()
async def dies_interleave(dut):
    """One die works and the other is served; each keeps its own data and status."""
    nand = await begin(dut)
    if GEOMETRY.dies == 1:
        return
    contents = [[page_bytes() for _ in PLANES] for _ in range(2)]
    for die in (0, 1):
        nand.select(die)
        await fresh(nand, 1)
    for die in (0, 1):
        nand.select(die)
        await nand.program(on_all_planes(1), 0, contents[die])
    assert DieStatus.ARDY not in await nand.status()
    for die in (0, 1):
        nand.select(die)
        await nand.idle()
        # Sense this die and, before its data are taken, talk to the other.
        await nand.read(on_all_planes(1), 0)
        await nand.choose(1, 1, 0)
        nand.select(1 - die)
        await nand.status()
        nand.select(die)
        assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[die][1]
    assert nand.violations == 0


SUSPENSION = TIMING.cycles("tsusp") + TIMING.cycles("tr") + TIMING.cycles("tres")
POLL = 150  # cycles of a status, at most


async def with_contents(nand, block: int, pages: int) -> list[list[bytes]]:
    """A block with random pages on all planes."""
    await fresh(nand, block)
    contents = [[page_bytes() for _ in PLANES] for _ in range(pages)]
    for page, content in enumerate(contents):
        await nand.program(on_all_planes(block), page, content, last=C.PROGRAM_CONFIRM)
    return contents


@cocotb.test()
async def suspended_reads_during_a_program(dut):
    """In the middle of loading the set after it, on all planes; the program takes the suspension longer."""
    nand = await begin(dut)
    (old,) = await with_contents(nand, 1, 1)
    await fresh(nand, 2)
    first, second = ([page_bytes() for _ in PLANES] for _ in range(2))
    places = on_all_planes(2)
    await nand.program(places, 0, first)
    started = nand.last_we
    await nand.load(0, 2, 1, second[0])
    await nand.confirm(C.PROGRAM_MULTI_PLANE)
    await nand.until(max(nand.now, started + TIMING.cycles("tadv")))
    await nand.begin_suspended_read(on_all_planes(1), 0)
    assert await nand.status() == READY, "suspended"
    asked = nand.last_we
    assert await nand.suspended_read_done() == READY | DieStatus.SUSPENDED_READ
    assert nand.now - asked <= SUSPENSION + 2 * POLL
    # A page out, a page in, and so on.
    for plane in PLANES:
        await nand.select_suspended_page(plane, 1, 0)
        assert await nand.data_out(GEOMETRY.raw_page_bytes) == old[plane]
        if plane > 0:
            await nand.load(plane, 2, 1, second[plane])
            if plane < PLANES[-1]:
                await nand.confirm(C.PROGRAM_MULTI_PLANE)
    await nand.end_suspended_read()
    assert await nand.status() & ~DieStatus.ARDY == READY
    await nand.confirm(C.PROGRAM_CACHE)
    await nand.idle()
    for page, content in enumerate((first, second)):
        await nand.read(places, page)
        for plane in PLANES:
            await nand.choose(plane, 2, page)
            assert await nand.data_out(GEOMETRY.raw_page_bytes) == content[plane]
    assert nand.violations == 0


@cocotb.test()
async def a_suspended_operation_takes_as_much_longer(dut):
    """And an operation advances for tADV before each suspension, whatever is asked of the die."""
    nand = await begin(dut)
    await with_contents(nand, 1, 1)
    places = on_all_planes(1)
    for operation, name, most in ((C.ERASE_CONFIRM, "tbers", 1), (C.PROGRAM_CONFIRM, "tprog", 2)):
        for reads in range(most + 1):
            if operation is C.ERASE_CONFIRM:
                await nand.command(C.ERASE)
                await nand.address(nand.row(0, 2, 0), 3)
            else:
                await nand.load(0, 2, reads, page_bytes())
            await nand.command(operation)
            started = nand.last_we
            await nand.wait(TIMING.cycles("twb"))
            for number in range(reads):
                await nand.begin_suspended_read(places, 0)
                await nand.suspended_read_done()
                least = (number + 1) * (TIMING.cycles("tadv") + SUSPENSION) - TIMING.cycles("tres")
                assert 0 <= nand.now - started - least <= 2 * POLL
                await nand.end_suspended_read()
            await nand.ready()
            late = nand.now - started - TIMING.cycles(name) - reads * SUSPENSION
            assert 0 <= late <= 2 * SLACK + 1, f"{name} with {reads} reads beside: {late} cycles late"
            assert await nand.status() == IDLE
    assert nand.violations == 0


@cocotb.test()
async def a_program_waits_for_the_end_of_a_suspended_read(dut):
    """That has come before it, or while it waited for the array."""
    nand = await begin(dut)
    (old,) = await with_contents(nand, 1, 1)
    await fresh(nand, 2)
    contents = [page_bytes() for _ in range(3)]
    for page, content in enumerate(contents):
        await nand.load(0, 2, page, content)
        await nand.command(C.PROGRAM_CACHE)
        await nand.wait(TIMING.cycles("twb"))
        if page == 0:
            await nand.ready()
            await nand.idle()
            await nand.begin_suspended_read(on_all_planes(1), 0)
            continue
        if page == 2:
            await nand.begin_suspended_read(on_all_planes(1), 0)
        await nand.wait(2 * TIMING.cycles("tprog"))
        assert await nand.status() == DieStatus.WP_N | DieStatus.SUSPENDED_READ
        assert await nand.take_suspended_read(on_all_planes(1), 0) == old
        assert await nand.ready() <= TIMING.cycles("twb")
        assert not await nand.status() & (DieStatus.ARDY | DieStatus.SUSPENDED_READ)
    await nand.idle()
    for page, content in enumerate(contents):
        await nand.read([(0, 2)], page)
        assert await nand.data_out(GEOMETRY.raw_page_bytes) == content
    assert nand.violations == 0


@cocotb.test()
async def suspended_reads_of_an_idle_array(dut):
    """Row after row of an idle die, and then a plain read."""
    nand = await begin(dut)
    contents = await with_contents(nand, 1, 3)
    places = on_all_planes(1)[1:]
    for page in range(3):
        await nand.begin_suspended_read(places if page == 0 else (), 0)
        asked = nand.last_we
        assert not await nand.status() & (DieStatus.ARDY | DieStatus.SUSPENDED_READ)
        assert await nand.suspended_read_done() == IDLE | DieStatus.SUSPENDED_READ
        assert 0 <= nand.now - asked - TIMING.cycles("tr") <= 2 * POLL
        assert await nand.take_suspended_read(places, page) == contents[page][1:]
    await nand.read(places[:1], 2)
    assert await nand.data_out(GEOMETRY.raw_page_bytes) == contents[2][1]
    assert nand.violations == 0


@cocotb.test()
async def reset_ends_a_suspended_read(dut):
    """While it senses, and after it, with a program that waits."""
    nand = await begin(dut)
    (old,) = await with_contents(nand, 1, 1)
    for waits in (False, True):
        await fresh(nand, 2)
        await nand.program([(0, 2)], 0, [page_bytes()])
        await nand.begin_suspended_read(on_all_planes(1), 0)
        if waits:
            await nand.load(0, 2, 1, page_bytes())
            await nand.command(C.PROGRAM_CACHE)
            await nand.wait(TIMING.cycles("tprog"))
        assert await nand.reset_die() <= TIMING.cycles("trst") + SLACK
        assert await nand.status() == IDLE
        await nand.begin_suspended_read(on_all_planes(1), 0)
        await nand.suspended_read_done()
        assert await nand.take_suspended_read(on_all_planes(1), 0) == old
    assert nand.violations == 0
