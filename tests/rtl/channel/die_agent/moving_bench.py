"""cocotb tests of a die's agent whose programs fail: what it does then, and where all is in the end."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import PageSet, SetResult, SpareUse
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, unpack
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.die_agent.agent_helpers import (
    ADDRESS,
    CONFIG,
    CYCLES,
    GEOMETRY,
    MEANT,
    PROGRAMS,
    Bench,
    a_read,
    plain,
    random_lateness,
)
from tests.rtl.channel.die_agent.moving_die import MovingDie
from tests.rtl.channel.die_model import Page
from tests.rtl.channel.timeout_streams import PausingSink, clock_now, until, wait

MEANT |= dict.fromkeys((BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM), ADDRESS)
PLANES = range(GEOMETRY.planes)
SLACK = 40 * CYCLES("twc") + CYCLES("twhr")
"""Cycles from the end of an operation of the array to the next: a look at the status, and what begins it."""


class MovingBench(Bench):
    """A bench that has the block table, and knows what each place must hold.

    A page's content is the number of its set. `rows`: of each zone and plane, the sets in their order.
    """

    def __init__(self, dut, die: MovingDie, **options: int):
        super().__init__(dut, die, **options)
        self.moving_die = die
        self.table = {(zone, p): zone for zone in range(GEOMETRY.blocks) for p in PLANES}
        self.tried: set[tuple[int, int]] = set()  # spares (block, plane) that were erased
        self.sent: list[dict] = []
        self.rows = {(zone, p): [] for zone in range(GEOMETRY.zones) for p in PLANES}
        self.in_slot: dict[int, int] = {}
        self.replaced = self.repeated = 0
        self.checked = 0  # pages output

    async def start(self) -> None:
        self.dut.restored__valid.value = self.dut.restored__payload.value = self.dut.change__ready.value = 0
        await super().start()
        self.changes = PausingSink(self.dut, "change", self.pause)
        for run in (self._change(), self._pulse("replaced"), self._pulse("repeated")):
            cocotb.start_soon(run)

    async def append(self, zone: int, first: int = 0, last: int = GEOMETRY.planes - 1) -> int:
        """The next row of these planes, when there is a slot; the set's number."""
        number = len(self.sent)
        while len(self.results.items) <= number - CONFIG.write_sets:
            await wait(self.dut, 20)
        row = len(self.rows[zone, first])
        fields = {"slot": number % CONFIG.write_sets, "zone": zone, "page": row, "first": first, "last": last}
        for p in range(first, last + 1):
            assert len(self.rows[zone, p]) == row
            self.rows[zone, p].append(number)
        self.sent.append(fields)
        self.in_slot[fields["slot"]] = number
        self.sets.send(pack(PageSet(CONFIG), **fields))
        return number

    def passed(self, number: int) -> bool:
        items = self.results.items
        return number < len(items) and not unpack(SetResult(CONFIG), items[number])["failed"]

    async def erase_zone(self, zone: int) -> bool:
        """After all that goes on there; whether it has passed, which it does while there are spares."""
        await self.settle()
        for p in PLANES:
            self.rows[zone, p].clear()
        self.send_erase(zone)
        await self.settle()
        failed = bool(self.erased.items[-1])
        assert not failed or any(self.spares_left(p) == 0 for p in PLANES)
        return not failed

    async def settle(self, cycles: int = 2_000_000) -> None:
        limit = clock_now() + cycles
        while self.read or len(self.results.items) < len(self.sent) or len(self.erased.items) < self.erases:
            assert clock_now() < limit, f"not done after {cycles} cycles: {self.die.history[-8:]}"
            await wait(self.dut, 50)

    async def finish(self, cycles: int = 2_000_000) -> None:
        """All sets that have passed are where the table says, the others had no spares."""
        await self.settle(cycles)
        await wait(self.dut, CYCLES("twb") + CONFIG.bus_page_bytes + 2 * self.delay + 300)
        assert self.dut.idle.value == 1
        results = [unpack(SetResult(CONFIG), item) for item in self.results.items]
        assert [result["slot"] for result in results] == [fields["slot"] for fields in self.sent]
        for number in {number for numbers in self.rows.values() for number in numbers}:
            self.check_set(number)
        assert self.replaced <= len(self.changes.items)  # a spare that fails to erase is replaced again
        assert self.pulses["failure"] == sum(work.failed for work in self.die.works)
        assert self.pulses["programmed"] == sum(len(self.works(kind)) for kind in ("program", "copy"))
        assert self.pulses["ended"] == len(self.works("erase"))

    def check_set(self, number: int) -> None:
        fields = self.sent[number]
        planes = range(fields["first"], fields["last"] + 1)
        held = {p: self.held(fields["zone"], fields["page"], p) for p in planes}
        if self.passed(number):
            assert set(held.values()) == {number}, f"set {number}, {fields}: {held}"
        else:
            lost = [p for p in planes if held[p] != number]
            assert lost and all(self.spares_left(p) == 0 for p in lost), f"set {number}: {held}, {self.tried}"

    def held(self, zone: int, row: int, plane: int) -> object:
        cells = self.moving_die.contents.get((self.table[zone, plane], plane), [])
        return cells[row] if row < len(cells) else None

    def spares_left(self, plane: int) -> int:
        return sum((block, plane) not in self.tried for block in GEOMETRY.spares)

    def read_pages(self, number: int) -> None:
        """Of a set that has passed."""
        fields = self.sent[number]
        for p in range(fields["first"], fields["last"] + 1):
            self.send_read(**a_read(fields["page"], p, zone=fields["zone"]))

    def _perform(self, op: BusOp, request: dict[str, int]) -> int:
        zone, plane = request["zone"], request["plane"]
        if op is BusOp.STATUS_PLANE:
            status = self.moving_die.status_plane(clock_now(), plane)
            self.die.history.append((clock_now(), op))
            return status
        if op in PROGRAMS:
            self.moving_die.loading[plane] = self.in_slot[request["slot"]]
        block = self.table.get((zone, plane), 0)
        if op in (BusOp.ERASE_LAST, BusOp.ERASE_MORE) and block >= GEOMETRY.zones:
            self.tried.add((block, plane))
        status = random.getrandbits(8)
        if op is BusOp.STATUS:
            status = self.die.status(clock_now())
        self.die.operation(op, block, request["page"], plane, clock_now())
        if op is BusOp.DATA_OUT:
            expected = self.read.popleft()
            place = expected["zone"], expected["plane"]
            number = self.rows[place][expected["page"]]
            assert self.moving_die.at(self.die.output[-1]) == number, f"{expected}: {self.die.output[-1]}"
            self.checked += 1
        return status

    async def _change(self) -> None:
        """As the table does: an entry is there before anything else can happen."""
        dut = self.dut
        while True:
            await until(dut, dut.change__valid)
            if dut.change__ready.value == 1:
                change = unpack(SpareUse(CONFIG), int(dut.change__payload.value))
                block = GEOMETRY.zones + change["spare"]
                assert block not in (self.table[zone, change["plane"]] for zone in range(GEOMETRY.zones))
                self.table[change["zone"], change["plane"]] = block

    async def _pulse(self, name: str) -> None:
        signal = getattr(self.dut, name)
        while True:
            await RisingEdge(signal)
            await RisingEdge(self.dut.clk)
            while signal.value == 1:
                setattr(self, name, getattr(self, name) + 1)
                await RisingEdge(self.dut.clk)


def breaks_at(*broken: tuple[str, int, int, int]):
    """Fails at these places, given as kind, block, row and plane, each once; an erase has row 0."""
    left = set(broken)

    def breaks(kind: str, page: Page) -> bool:
        block, row, plane = page
        key = (kind, block, 0 if kind == "erase" else row, plane)
        if key not in left:
            return False
        left.remove(key)
        return True

    return breaks


SPARE = GEOMETRY.zones  # the first one's block
LOOKS = [BusOp.STATUS_PLANE] * GEOMETRY.planes
ERASE, COPY = [BusOp.ERASE_LAST], [BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM]
PROGRAM = [BusOp.PROGRAM_PAGE, BusOp.PROGRAM_LAST]
A_SET = [BusOp.PROGRAM_PAGE, BusOp.PROGRAM_MORE] * (GEOMETRY.planes - 1) + PROGRAM


def after_sets(bench: MovingBench, count: int) -> list[BusOp]:
    """What was done after the reset and so many whole sets."""
    history = plain(bench.die.history)
    begin = 1 + count * len(A_SET)
    assert history[:begin] == [BusOp.RESET, *A_SET * count]
    return history[begin:]


async def append_rows(dut, rows: int, *broken: tuple[str, int, int, int]) -> MovingBench:
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(*broken)))
    await bench.start()
    for _ in range(rows):
        await bench.append(0)
    await bench.finish()
    return bench


@cocotb.test()
async def the_last_set_fails(dut):
    """On one plane: its block's pages and its own go to a spare, in the right order and time."""
    bench = await append_rows(dut, 3, ("program", 0, 2, 1))
    assert after_sets(bench, 3) == [*LOOKS, *ERASE, *COPY * 2, *PROGRAM]
    assert bench.passed(2) and bench.table[0, 1] == SPARE and bench.table[0, 0] == 0
    assert (bench.replaced, bench.repeated) == (1, 1)
    failed_at = next(work.end for work in bench.works("program") if work.failed)
    works = [work for work in bench.die.works if work.begin >= failed_at]
    assert [work.kind for work in works] == ["erase", *["sense", "copy"] * 2, "program"]
    ends = [failed_at, *(work.end for work in works)]
    waits = [work.begin - end for work, end in zip(works, ends, strict=False)]
    page, looks = CONFIG.bus_page_bytes // 2, GEOMETRY.planes * SLACK
    assert waits[0] <= 2 * SLACK + looks and all(cycles <= SLACK for cycles in waits[1:-1]), waits
    assert waits[-1] <= SLACK + CYCLES("tadl") + page, waits


@cocotb.test()
async def the_next_set_is_in_the_array(dut):
    """What it has programmed is on the old block: on the plane that moves it is done again."""
    bench = await append_rows(dut, 3, ("program", 0, 1, 0))
    assert after_sets(bench, 3) == [*LOOKS, *ERASE, *COPY, *PROGRAM, *PROGRAM]
    assert bench.replaced == 1 and bench.repeated == 2 and bench.passed(1) and bench.passed(2)


@cocotb.test()
async def both_sets_fail(dut):
    """On one plane, and the second on another one, too: that block moves with the first set's page."""
    bench = await append_rows(dut, 2, *(("program", 0, row, 0) for row in (0, 1)), ("program", 0, 1, 1))
    moves = [*ERASE, *PROGRAM, *PROGRAM, *ERASE, *COPY, *PROGRAM]
    assert after_sets(bench, 2) == [*LOOKS, *moves]
    assert bench.replaced == 2 and bench.repeated == 2


@cocotb.test()
async def the_next_set_is_of_another_zone(dut):
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(("program", 0, 0, 0))))
    await bench.start()
    for zone in (0, 1):
        await bench.append(zone)
    await bench.finish()
    assert after_sets(bench, 2) == [*LOOKS, *ERASE, *PROGRAM]
    assert bench.replaced == bench.repeated == 1 and bench.table[1, 0] == 1


@cocotb.test()
async def the_rest_of_the_row_comes_after(dut):
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(("program", 0, 0, 0))))
    await bench.start()
    await bench.append(0, 0, 0)
    await bench.append(0, 1)
    await bench.append(0)
    await bench.finish()
    assert bench.replaced == bench.repeated == 1 and bench.table[0, 0] == SPARE


@cocotb.test()
@cocotb.parametrize(
    broken=[("erase", SPARE, 0, 0), ("copy", SPARE, 0, 0), ("copy", SPARE, 1, 0), ("program", SPARE, 2, 0)]
)
async def the_spare_fails(dut, broken):
    """Then the next one takes its place, from the start."""
    bench = await append_rows(dut, 3, ("program", 0, 2, 0), broken)
    kind, _, row, _ = broken
    copies = row + 1 if kind == "copy" else 0 if kind == "erase" else 2
    whole = [*ERASE, *COPY * 2, *PROGRAM]
    given_up = [*ERASE, *COPY * copies, *(PROGRAM if kind == "program" else [])]
    assert after_sets(bench, 3) == [*LOOKS, *given_up, *whole]
    assert bench.table[0, 0] == SPARE + 1 and bench.replaced == 1


@cocotb.test()
async def the_spare_fails_under_the_next_set(dut):
    """The first set's page is safe there by then, and moves once more."""
    bench = await append_rows(dut, 2, ("program", 0, 0, 0), ("program", SPARE, 1, 0))
    assert after_sets(bench, 2) == [*LOOKS, *ERASE, *PROGRAM, *PROGRAM, *ERASE, *COPY, *PROGRAM]
    assert bench.table[0, 0] == SPARE + 1 and bench.replaced == 2


@cocotb.test()
async def without_spares_it_has_failed(dut):
    """And only it: what was there before can be read, and sets of other planes go on."""

    def breaks(kind: str, page: Page) -> bool:
        return page[2] == 0 and (kind, page[1]) != ("program", 0)

    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks))
    await bench.start()
    first = await bench.append(0)
    await bench.append(0)
    await bench.settle()
    other = await bench.append(1, 1)
    await bench.settle()
    bench.read_pages(first)
    bench.read_pages(other)
    await bench.finish()
    assert bench.passed(first) and not bench.passed(1) and bench.passed(other)
    assert bench.replaced == 0 and len(bench.tried) == GEOMETRY.spare_blocks


@cocotb.test()
async def reads_have_turns_beside_a_move(dut):
    """Of other zones and of the pages that are being copied."""
    breaks = breaks_at(("program", 1, GEOMETRY.pages - 1, 0))
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks))
    await bench.start()
    numbers = [await bench.append(zone) for _ in range(GEOMETRY.pages - 1) for zone in (0, 1)]
    await bench.settle()
    await bench.append(1)
    while BusOp.COPYBACK_PROGRAM not in plain(bench.die.history):
        await wait(dut, 20)
    for number in numbers:
        bench.read_pages(number)
    await bench.finish()
    history = plain(bench.die.history)
    last_copy = len(history) - history[::-1].index(BusOp.COPYBACK_PROGRAM)
    assert history[:last_copy].count(BusOp.DATA_OUT) >= 4
    assert bench.checked == len(numbers) * GEOMETRY.planes


@cocotb.test()
async def a_suspended_read_goes_on_in_the_spare(dut):
    """The row after one that was read before the move is named anew."""
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(("program", 0, 1, 0))))
    await bench.start()
    first = await bench.append(0)
    await bench.settle()
    await bench.append(1)
    bench.read_pages(first)  # beside
    while not bench.checked:
        await wait(dut, 20)
    second = await bench.append(0)
    await bench.settle()
    await bench.append(1)
    await wait(dut, CYCLES("twb") + 100)
    bench.read_pages(second)
    await bench.finish()
    assert bench.table[0, 0] == SPARE and bench.checked == 2 * GEOMETRY.planes


@cocotb.test()
async def an_erase_waits_for_the_move(dut):
    """Of the zone that is moved, asked for while its last program is in the array: nothing is left of it."""
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(("program", 0, 1, 0))))
    await bench.start()
    for _ in range(2):
        await bench.append(0)
    while plain(bench.die.history).count(BusOp.PROGRAM_LAST) < 2:
        await wait(dut, 20)
    for numbers in bench.rows.values():
        numbers.clear()
    bench.send_erase(0)
    await bench.finish()
    assert bench.table[0, 0] == SPARE
    assert all(bench.moving_die.contents[bench.table[0, p], p] == [] for p in PLANES)


@cocotb.test()
async def a_spare_that_is_to_be_erased_is_taken(dut):
    """It is not erased then. Those of the same number on other planes are."""
    bench = MovingBench(dut, MovingDie(CONFIG, "die", breaks=breaks_at(("program", 0, 0, 0))))
    await bench.start()
    await bench.append(0)
    while BusOp.PROGRAM_LAST not in plain(bench.die.history):
        await wait(dut, 20)
    bench.send_erase(SPARE)
    await bench.finish()
    assert bench.table[0, 0] == SPARE
    assert len(bench.works("erase")) == GEOMETRY.planes


@cocotb.test(skip=CONFIG.late_polls > 100)
@cocotb.parametrize(kind=["erase", "copy"])
async def a_die_that_is_lost_during_a_move(dut, kind):
    """The set has failed, what comes after it as well, and the agent comes to rest."""
    die = MovingDie(
        CONFIG,
        "die",
        late=lambda work, cycles: 10**9 if work == kind else cycles,
        breaks=breaks_at(("program", 0, 2, 0)),
    )
    bench = MovingBench(dut, die)
    await bench.start()
    for _ in range(3):
        await bench.append(0)
    await bench.settle()
    assert bench.lost_at is not None and [bench.passed(number) for number in range(3)] == [True, True, False]
    await bench.append(1)
    bench.send_erase(2)
    await bench.settle()
    await wait(dut, 300)
    assert not bench.passed(3) and bench.erased.items == [1] and dut.idle.value == 1


@cocotb.test()
@cocotb.parametrize((("delay", "pause", "often"), [(0, 0, 0.1), (500, 10, 0.05), (1500, 300, 0.03)]))
async def random_failures(dut, delay, pause, often):
    """Appends, reads and erases, while programs, copies and erases fail until there are no spares."""
    die = MovingDie(CONFIG, "die", late=random_lateness, breaks=lambda kind, page: random.random() < often)
    bench = MovingBench(dut, die, delay=delay, pause=pause)
    await bench.start()
    zones = [0, 1, 2]
    for _ in range(bench_parameters()["steps"]):
        zone = random.choice(zones)
        rows = [len(bench.rows[zone, p]) for p in PLANES]
        split = next((p for p in PLANES if rows[p] < rows[0]), 0)  # where a row goes on
        if rows[split] == GEOMETRY.pages:
            if not await bench.erase_zone(zone):
                zones = [other for other in zones if other != zone] or [zone + 1]
            continue
        last = random.choice((GEOMETRY.planes - 1, random.randrange(split, GEOMETRY.planes)))
        await bench.append(zone, split, last)
        known = [number for numbers in bench.rows.values() for number in numbers if bench.passed(number)]
        for number in random.sample(known, min(len(known), random.choice((0, 0, 1, 3)))):
            bench.read_pages(number)
        await wait(dut, random.choice((0, 0, 5, 500, 5000)))
    await bench.finish()
