"""cocotb tests of a die's agent, against a bus that takes its time and a model of the die."""

import random
from collections import deque
from itertools import pairwise

import cocotb
from cocotb.triggers import RisingEdge
from die_model import ArrayWork, DieModel
from patient_streams import PatientSink, PatientSource, clock_now, until, wait

from flashtrain.rtl.layouts import BusRequest, DieRead, PageSet, SetResult
from flashtrain.rtl.zones.erase import EraseRequest, EraseResult
from flashtrain.sim.bench.streams import pack, start, unpack
from flashtrain.sim.bench_parameters import bench_parameters
from flashtrain.spec import preset
from flashtrain.spec.nand import BusOp

CONFIG = preset(bench_parameters()["preset"])
READ_RUN = bench_parameters()["read_run"]
PROGRAM_RUN = bench_parameters()["program_run"]
GEOMETRY = CONFIG.geometry
CLOCKS = CONFIG.timing.clocks
PAGE_CLOCKS = GEOMETRY.page_bytes // 2
PULSES = ("programmed", "page_programmed", "sensed", "page_output", "ended", "failure")
PROGRAMS = (BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST)

ADDRESS = ("op", "zone", "row", "plane")
MEANT = {op: ("op",) for op in BusOp}
"""Fields of a request that mean something; the others may change while it waits."""
MEANT |= dict.fromkeys((BusOp.READ_MORE, BusOp.READ_LAST, BusOp.CACHE_READ_LAST, BusOp.SELECT), ADDRESS)
MEANT |= dict.fromkeys((BusOp.ERASE_MORE, BusOp.ERASE_LAST), ("op", "zone", "plane"))
MEANT |= dict.fromkeys(PROGRAMS, (*ADDRESS, "slot"))
MEANT[BusOp.DATA_OUT] = ("op", "tag", "page")


class Bench:
    """The agent with its streams, a bus, a die, and a scoreboard that knows what must come out.

    `delay`: clocks that a request waits for the bus, at most; `pause`: the same for every item of a stream.
    """

    def __init__(self, dut, die: DieModel, *, delay: int = 0, pause: int = 0):
        self.dut = dut
        self.die = die
        self.delay = delay
        self.pause = pause
        self.programmed: deque[dict] = deque()  # sets that the bus still has to see, and reads, and erases
        self.read: deque[dict] = deque()
        self.zones: deque[int] = deque()
        self.slots: list[int] = []  # of all sets
        self.erases = 0
        self.loaded: list[int] = []  # planes of the set that is loading
        self.pulses = dict.fromkeys(PULSES, 0)
        self.reset_at = 0

    async def start(self) -> None:
        inputs = [f"{name}__{pin}" for name in ("sets", "reads", "erase") for pin in ("valid", "payload")]
        inputs += ["results__ready", "erased__ready", "bus__ready", "bus_done", "bus_status"]
        await start(self.dut, **dict.fromkeys(inputs, 0))
        self.reset_at = clock_now()
        self.sets, self.reads, self.erase = (
            PatientSource(self.dut, name, self.pause) for name in ("sets", "reads", "erase")
        )
        self.results, self.erased = (
            PatientSink(self.dut, name, self.pause) for name in ("results", "erased")
        )
        cocotb.start_soon(self._run_bus())
        cocotb.start_soon(self._check_idle())
        for name in PULSES:
            cocotb.start_soon(self._count(name))

    def send_set(self, **fields: int) -> None:
        self.programmed.append(fields)
        self.slots.append(fields["slot"])
        self.sets.send(pack(PageSet(CONFIG), **fields))

    def send_read(self, **fields: int) -> None:
        self.read.append(fields)
        self.reads.send(pack(DieRead(CONFIG), **fields))

    def send_erase(self, zone: int) -> None:
        self.zones.append(zone)
        self.erases += 1
        self.erase.send(pack(EraseRequest(CONFIG), zone=zone))

    async def finish(self, clocks: int = 2_000_000) -> None:
        """Wait until all is done, and compare."""
        limit = clock_now() + clocks
        while self.read or len(self.results.items) < len(self.slots) or len(self.erased.items) < self.erases:
            assert clock_now() < limit, f"not done after {clocks} clocks: {self.die.history[-8:]}"
            await wait(self.dut, 100)
        await wait(self.dut, CLOCKS("twb") + PAGE_CLOCKS + 300)
        assert self.dut.idle.value == 1
        results = [unpack(SetResult(CONFIG), item) for item in self.results.items]
        assert [result["slot"] for result in results] == self.slots
        assert [bool(result["failed"]) for result in results] == [w.failed for w in self.works("program")]
        erased = [unpack(EraseResult(), item) for item in self.erased.items]
        assert [bool(result["failed"]) for result in erased] == [w.failed for w in self.works("erase")]
        assert all(len(work.pages) == GEOMETRY.planes for work in self.works("erase"))
        programs = self.works("program")
        assert self.pulses == {
            "programmed": len(programs),
            "page_programmed": sum(len(work.pages) for work in programs),
            "sensed": len(self.works("sense")),
            "page_output": len(self.die.output),
            "ended": len(self.works("erase")),
            "failure": sum(work.failed for work in self.die.works),
        }

    def works(self, kind: str) -> list[ArrayWork]:
        return [work for work in self.die.works if work.kind == kind]

    async def _count(self, name: str) -> None:
        while True:
            await until(self.dut, getattr(self.dut, name))
            self.pulses[name] += 1

    async def _check_idle(self) -> None:
        while True:
            await until(self.dut, self.dut.idle)
            waiting = [source for source in (self.sets, self.reads, self.erase) if source.valid.value == 1]
            assert not waiting and self.dut.bus__valid.value == 0
            await RisingEdge(self.dut.bus__valid)

    async def _run_bus(self) -> None:
        dut = self.dut
        while True:
            await until(dut, dut.bus__valid)
            request = self._request()
            op = BusOp(request["op"])
            await wait(dut, random.randint(0, self.delay))
            dut.bus__ready.value = 1
            await RisingEdge(dut.clk)
            assert dut.bus__valid.value == 1
            assert {name: self._request()[name] for name in MEANT[op]} == {
                name: request[name] for name in MEANT[op]
            }
            dut.bus__ready.value = 0
            await wait(dut, self._length(op))
            status = random.getrandbits(8)
            if op is BusOp.STATUS:
                status = self.die.status(clock_now())
            else:
                self._check(op, request)
            self.die.operation(op, request["zone"], request["row"], request["plane"], clock_now())
            if op is BusOp.DATA_OUT:
                self._check_output(request)
            dut.bus_done.value = 1
            dut.bus_status.value = status
            await RisingEdge(dut.clk)
            dut.bus_done.value = 0
            dut.bus_status.value = random.getrandbits(8)

    def _request(self) -> dict[str, int]:
        return unpack(BusRequest(CONFIG), int(self.dut.bus__payload.value))

    def _length(self, op: BusOp) -> int:
        """Clocks from acceptance to done; the bus begins 1 to 3 clocks after it accepts."""
        page = op in (*PROGRAMS, BusOp.DATA_OUT)
        return 3 + (PAGE_CLOCKS if page else random.randint(CLOCKS("twc"), 8 * CLOCKS("twc")))

    def _check(self, op: BusOp, request: dict) -> None:
        """The operation belongs to the work that is next in line."""
        if op in PROGRAMS:
            current = self.programmed[0]
            self.loaded.append(request["plane"])
            last = request["plane"] == current["last"]
            assert op is (BusOp.PROGRAM_LAST if last else BusOp.PROGRAM_MORE)
            assert {name: request[name] for name in ("zone", "row", "slot")} == {
                name: current[name] for name in ("zone", "row", "slot")
            }
            if last:
                assert self.loaded == list(range(current["first"], current["last"] + 1))
                self.loaded = []
                self.programmed.popleft()
        elif op in (BusOp.ERASE_MORE, BusOp.ERASE_LAST):
            assert request["zone"] == self.zones[0]
            if op is BusOp.ERASE_LAST:
                self.zones.popleft()

    def _check_output(self, request: dict) -> None:
        expected = self.read.popleft()
        assert {name: request[name] for name in expected} == expected
        assert self.die.output[-1] == (expected["zone"], expected["row"], expected["plane"])


def a_set(row: int, **fields: int) -> dict:
    """A whole page set; slots come round."""
    return {"slot": row % CONFIG.write_sets, "zone": 1, "row": row % GEOMETRY.pages,
            "first": 0, "last": GEOMETRY.planes - 1, **fields}  # fmt: skip


def a_read(row: int, plane: int, **fields: int) -> dict:
    return {"zone": 1, "row": row % GEOMETRY.pages, "plane": plane,
            "tag": random.randrange(CONFIG.commands),
            "page": random.getrandbits(CONFIG.page_address_bits), **fields}  # fmt: skip


def whole_rows(first: int, count: int) -> list[dict]:
    return [a_read(row, plane) for row in range(first, first + count) for plane in range(GEOMETRY.planes)]


def random_lateness(kind: str, clocks: int) -> int:
    return round(clocks * random.choice((0.5, 1, 1, 1, 1.3, 2)))


def plain(history: list[tuple[int, BusOp]]) -> list[BusOp]:
    """What was done, without looks at the status."""
    return [op for _, op in history if op is not BusOp.STATUS]


@cocotb.test()
async def resets_first(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    bench.send_set(**a_set(0))
    await until(dut, dut.ready)
    assert CLOCKS("trst") <= clock_now() - bench.reset_at <= CLOCKS("trst") + 2 * CLOCKS("twb") + 200
    assert plain(bench.die.history) == [BusOp.RESET]
    await bench.finish()


@cocotb.test()
async def keeps_the_array_programming(dut):
    """Back to back, with an ideal bus and a die that keeps its times: no clock of the array is lost."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(12):
        bench.send_set(**a_set(row))
    await bench.finish()
    programs = bench.works("program")
    assert all(after.begin == before.end for before, after in pairwise(programs))
    # One look for each set at RDY, one at the end of the last, one for the reset; a few come too early.
    assert bench.die.polls <= 12 + 2 + 4


@cocotb.test()
async def judges_each_set_by_its_own_status(dut):
    """Failures in every position, with sets that follow at once (FAILC) and late (FAIL)."""
    die = DieModel(CONFIG, "die", fails=lambda kind, pages: random.random() < 0.5)
    bench = Bench(dut, die)
    await bench.start()
    gaps = [0, CLOCKS("tprog") // 2, CLOCKS("tprog"), 3 * CLOCKS("tprog")]
    for row in range(24):
        bench.send_set(**a_set(row))
        await wait(dut, random.choice(gaps))
    await bench.finish()
    assert {work.failed for work in bench.works("program")} == {False, True}


@cocotb.test()
async def reads_rows_in_sequence_ahead(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for read in whole_rows(0, 5):
        bench.send_read(**read)
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT] * GEOMETRY.planes
    first = [BusOp.READ_MORE] * (GEOMETRY.planes - 1) + [BusOp.READ_LAST]
    following = [BusOp.CACHE_READ_NEXT, *page] * 4
    assert plain(bench.die.history) == [BusOp.RESET, *first, *following, BusOp.CACHE_READ_END, *page]
    senses = bench.works("sense")
    assert [len(work.pages) for work in senses] == [GEOMETRY.planes] * 5


@cocotb.test()
async def reads_rows_in_any_order_ahead(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in (0, 2, 1):
        for plane in range(GEOMETRY.planes):
            bench.send_read(**a_read(row, plane))
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT] * GEOMETRY.planes
    more = [BusOp.READ_MORE] * (GEOMETRY.planes - 1)
    assert plain(bench.die.history) == [
        BusOp.RESET, *more, BusOp.READ_LAST, *more, BusOp.CACHE_READ_LAST, *page,
        *more, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_END, *page,
    ]  # fmt: skip


@cocotb.test()
async def does_not_cache_what_comes_alone(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in (3, 4):
        bench.send_read(**a_read(row, 1))
        await wait(dut, 3 * CLOCKS("tr") + 4 * PAGE_CLOCKS)
    await bench.finish()
    alone = [BusOp.READ_LAST, BusOp.SELECT, BusOp.DATA_OUT]
    assert plain(bench.die.history) == [BusOp.RESET, *alone, *alone]


@cocotb.test()
async def sets_of_other_planes_are_not_a_sequence(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row, plane in ((0, 0), (1, 1), (2, 1), (3, 1), (3, 0)):
        bench.send_read(**a_read(row, plane))
    await bench.finish()
    page = [BusOp.SELECT, BusOp.DATA_OUT]
    assert plain(bench.die.history) == [
        BusOp.RESET, BusOp.READ_LAST, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_NEXT, *page,
        BusOp.CACHE_READ_NEXT, *page, BusOp.CACHE_READ_LAST, *page, BusOp.CACHE_READ_END, *page,
    ]  # fmt: skip


@cocotb.test()
async def erases_all_planes(dut):
    bench = Bench(dut, DieModel(CONFIG, "die", fails=lambda kind, pages: pages[0][0] == 2))
    await bench.start()
    for zone in (3, 2, 5):
        bench.send_erase(zone)
    await bench.finish()
    assert [work.failed for work in bench.works("erase")] == [False, True, False]


def runs(works) -> list[tuple[str, int]]:
    """How many works of a kind follow one another."""
    found: list[tuple[str, int]] = []
    for work in works:
        if found and found[-1][0] == work.kind:
            found[-1] = (work.kind, found[-1][1] + 1)
        else:
            found.append((work.kind, 1))
    return found


@cocotb.test()
async def shares_the_die(dut):
    """With all three kinds of work waiting all the time, each has its run and no more."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(6 * PROGRAM_RUN):
        bench.send_set(**a_set(row))
    for read in whole_rows(0, 6 * READ_RUN):
        bench.send_read(**read)
    for zone in range(6):
        bench.send_erase(zone)
    await bench.finish()
    turn = [("program", PROGRAM_RUN), ("sense", READ_RUN), ("erase", 1)]
    assert runs(bench.die.works) == turn * 6


@cocotb.test()
async def reads_interrupt_a_stream_of_programs(dut):
    """When a read comes, the set that is loading is the last one before it (with a run of one)."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for row in range(20):
        bench.send_set(**a_set(row))
    while len(bench.works("program")) < 5:
        await wait(dut, 10)
    came = clock_now()
    bench.send_read(**a_read(0, 0))
    while bench.read:
        await wait(dut, 10)
    # Two sets are in the die at most, and one may just have been begun.
    assert clock_now() - came <= 3 * CLOCKS("tprog") + 2 * CLOCKS("tr") + 4 * PAGE_CLOCKS
    if PROGRAM_RUN == 1:
        after = [clock for clock, op in bench.die.history if op is BusOp.PROGRAM_LAST and clock > came]
        sensed = next(clock for clock, op in bench.die.history if op is BusOp.READ_LAST)
        assert sum(clock < sensed for clock in after) <= 1
    await bench.finish()


@cocotb.test()
async def programs_interrupt_a_stream_of_reads(dut):
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    for read in whole_rows(0, 40):
        bench.send_read(**read)
    while len(bench.works("sense")) < 10:
        await wait(dut, 10)
    bench.send_set(**a_set(0))
    await bench.finish()
    before = next(index for index, work in enumerate(bench.die.works) if work.kind == "program")
    assert before <= 10 + 2
    # No set of reads was sensed in vain: that is checked by the die.


@cocotb.test()
@cocotb.parametrize((("delay", "pause"), [(0, 0), (PAGE_CLOCKS, 10), (3 * PAGE_CLOCKS, 300)]))
async def random_work(dut, delay, pause):
    """Everything at once, on a slow bus and a die that is early, late and bad."""
    die = DieModel(CONFIG, "die", late=random_lateness, fails=lambda kind, pages: random.random() < 0.3)
    bench = Bench(dut, die, delay=delay, pause=pause)
    await bench.start()
    for row in range(80):
        zone = random.randrange(GEOMETRY.zones)
        match random.choice(("set", "rows", "page", "erase" if row % 5 == 0 else "page")):
            case "set":
                first = random.randrange(GEOMETRY.planes)
                last = random.randrange(first, GEOMETRY.planes)
                bench.send_set(**a_set(row, zone=zone, first=first, last=last))
            case "rows":
                for read in whole_rows(row, random.randint(1, 3)):
                    bench.send_read(**read)
            case "page":
                place = random.randrange(3), random.randrange(GEOMETRY.planes)
                bench.send_read(**a_read(*place, zone=random.randrange(2)))
            case "erase":
                bench.send_erase(zone)
        await wait(dut, random.choice((0, 0, 5, 500, 5000)))
    await bench.finish()
