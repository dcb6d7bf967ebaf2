"""A die's agent between work, a bus that takes its time, and a model of the die."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import (
    BusRequest,
    DieRead,
    PageEvent,
    PageKind,
    PageRetry,
    PageSet,
    PageSource,
    SetResult,
)
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import pack, start, unpack
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.bus.nand_helpers import bus_kind
from tests.rtl.channel.channel_helpers import EVERY_CONFIG
from tests.rtl.channel.die_model import COPY, STATISTICS, ArrayWork, DieModel
from tests.rtl.channel.spare_configs import IMPATIENT_WITH_SPARES, SPARE_CONFIGS
from tests.rtl.channel.timeout_streams import PausingSink, PausingSource, clock_now, until, wait

WITH_SPARES = {**SPARE_CONFIGS, IMPATIENT_WITH_SPARES.name: IMPATIENT_WITH_SPARES}
CONFIG = {**EVERY_CONFIG, **WITH_SPARES}[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
CYCLES = CONFIG.timing.cycles
PAGE_CYCLES = CONFIG.bus_page_bytes // 2
BUS_REQUEST = BusRequest(CONFIG)
PULSES = ("programmed", "page_programmed", "sensed", "page_output", "ended", "failure")
PROGRAMS = (BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST)
UPDATES = (BusOp.UPDATE_SOURCE, BusOp.UPDATE_MORE, BusOp.UPDATE_LAST)
LOADS = (BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT)

FAILED = 0b0111_0011  # RDY, ARDY, SUSPENDED_READ, FAILC, FAIL

ADDRESS = ("op", "zone", "page", "plane")
MEANT = {op: ("op",) for op in BusOp}
"""Fields of a request that mean something; the others may change while it waits."""
MEANT |= dict.fromkeys((BusOp.READ_MORE, BusOp.READ_LAST, BusOp.CACHE_READ_LAST, BusOp.SELECT), ADDRESS)
MEANT[BusOp.PROGRAM_PAGE] = ADDRESS
MEANT |= dict.fromkeys(
    (BusOp.SUSPENDED_READ_MORE, BusOp.SUSPENDED_READ_LAST, BusOp.SUSPENDED_READ_SELECT), ADDRESS
)
MEANT |= dict.fromkeys((BusOp.ERASE_MORE, BusOp.ERASE_LAST), ("op", "zone", "plane"))
MEANT |= dict.fromkeys(UPDATES, ADDRESS)
MEANT |= dict.fromkeys((*PROGRAMS, *LOADS), ("op", "plane", "slot"))
MEANT[BusOp.SELECT_COPY] = ("op", "plane")
TO_A_PLACE = ("op", "origin", "tag", "buffer_block", "from_array")
TO_ORIGIN = ("op", "origin", "slot", "plane", "from_array")
if CONFIG.read_levels:
    MEANT[BusOp.SET_READ_LEVEL] = ("op", "level")
    TO_A_PLACE += ("zone", "page", "plane", "level")


class Bench:
    """The agent with its streams, a bus, a die, and a scoreboard that knows what must come out.

    `delay`: cycles that a request waits for the bus, at most; `pause`: the same for every item of a stream.
    When the agent finds the die `lost`, the bus answers in its place that everything has failed.
    """

    def __init__(self, dut, die: DieModel, *, delay: int = 0, pause: int = 0):
        self.dut = dut
        self.die = die
        self.delay = delay
        self.pause = pause
        self.programmed: deque[dict] = deque()  # sets that the bus still has to see, and reads, and erases
        self.gradients: deque[dict] = deque()  # sets of an update, in all that belongs to it
        self.tiles: deque[dict] = deque()
        self.copied: deque[tuple[dict, int]] = deque()
        self.constants: deque[dict] = deque()
        self.told: list[int] = []  # tags of tiles
        self.order: dict[int, int] = {}  # of tiles among all sets
        self.read: deque[dict] = deque()
        self.retried: deque[dict] = deque()
        self.zones: deque[int] = deque()
        self.slots: list[int] = []  # of all sets
        self.is_data: list[bool] = []
        self.erases = 0
        self.loaded: list[int] = []  # planes of the set that is loading
        self.pulses = dict.fromkeys(PULSES, 0)
        self.reset_at = 0
        self.lost_at: int | None = None
        self.lost_pages: list[int] = []  # tags of what was output since

    async def start(self) -> None:
        streams = ["sets", "reads", "erase", *(["retries"] if CONFIG.read_levels else [])]
        inputs = [f"{name}__{pin}" for name in streams for pin in ("valid", "payload")]
        inputs += [
            "results__ready",
            "updated__ready",
            "erased__ready",
            "bus__ready",
            "bus_done",
            "bus_status",
            "backlog",
        ]
        await start(self.dut, within=3_000_000, **dict.fromkeys(inputs, 0))
        self.reset_at = clock_now()
        self.sets, self.reads, self.erase = (
            PausingSource(self.dut, name, self.pause) for name in ("sets", "reads", "erase")
        )
        if CONFIG.read_levels:
            self.retries = PausingSource(self.dut, "retries", self.pause)
        self.results, self.updated, self.erased = (
            PausingSink(self.dut, name, self.pause) for name in ("results", "updated", "erased")
        )
        cocotb.start_soon(self._run_bus())
        cocotb.start_soon(self._check_idle())
        cocotb.start_soon(self._lose())
        for name in PULSES:
            cocotb.start_soon(self._count(name))

    def send_set(self, **fields: int) -> None:
        self.programmed.append(fields)
        self._note(fields)
        self.sets.send(pack(PageSet(CONFIG), **fields))

    def send_update(self, **fields: int) -> None:
        fields = {"kind": PageKind.GRADIENTS.value, "first": 0, **fields}
        self.gradients.append(fields)
        self.tiles.append(fields)
        self.order[id(fields)] = len(self.slots)
        self.copied.extend((fields, number) for number in range(fields["copies"]))
        self._note(fields)
        self.told.append(fields["tag"])
        self.sets.send(pack(PageSet(CONFIG), **fields))

    def _note(self, fields: dict) -> None:
        self.slots.append(fields["slot"])
        self.is_data.append(fields.get("kind", PageKind.DATA.value) == PageKind.DATA.value)

    def send_constants(self, slot: int) -> None:
        fields = {"kind": PageKind.CONSTANTS.value, "slot": slot}
        self.constants.append(fields)
        self._note(fields)
        self.sets.send(pack(PageSet(CONFIG), **fields))

    def send_read(self, **fields: int) -> None:
        self.read.append(fields)
        self.reads.send(pack(DieRead(CONFIG), **fields))

    def send_retry(self, level: int, **fields: int) -> None:
        """Of a read; it has a place, a tag and a page."""
        fields = {name: fields[name] for name in ("zone", "page", "plane", "tag", "buffer_block")}
        self.retried.append({**fields, "level": level})
        place = {name: fields[name] for name in ("zone", "page", "plane")}
        source = pack(PageSource(CONFIG), **place, level=level)
        self.retries.send(
            pack(PageRetry(CONFIG), source=source, tag=fields["tag"], buffer_block=fields["buffer_block"])
        )

    def send_erase(self, zone: int) -> None:
        self.zones.append(zone)
        self.erases += 1
        self.erase.send(pack(EraseRequest(CONFIG), zone=zone))

    async def finish(self, cycles: int = 2_000_000) -> None:
        """Wait until all is done, and compare."""
        limit = clock_now() + cycles
        while (
            self.read
            or self.retried
            or self.die.level  # which goes back after the last of them
            or len(self.results.items) < len(self.slots)
            or len(self.updated.items) < len(self.told)
            or len(self.erased.items) < self.erases
        ):
            assert clock_now() < limit, f"not done after {cycles} cycles: {self.die.history[-8:]}"
            await wait(self.dut, 100)
        await wait(self.dut, CYCLES("twb") + PAGE_CYCLES + 300)
        if CONFIG.read_levels:
            await wait(self.dut, CYCLES("tfeat") + 3 * self.delay)
        assert self.dut.idle.value == 1
        results = [unpack(SetResult(CONFIG), item) for item in self.results.items]
        assert [result["slot"] for result in results] == self.slots
        failed = {True: [], False: []}
        for result, is_data in zip(results, self.is_data, strict=True):
            failed[is_data].append(bool(result["failed"]))
        assert failed[True] == [work.failed for work in self.works("program")]
        assert not any(failed[False])
        told = [unpack(PageEvent(CONFIG), item) for item in self.updated.items]
        assert [event["tag"] for event in told] == self.told
        assert [bool(event["failed"]) for event in told] == [w.failed for w in self.works("update")]
        assert not (self.gradients or self.tiles or self.copied or self.constants)
        erased = [unpack(EraseResult(), item) for item in self.erased.items]
        assert [bool(result["failed"]) for result in erased] == [w.failed for w in self.works("erase")]
        assert all(len(work.pages) == GEOMETRY.planes for work in self.works("erase"))
        programs = self.works("program") + self.works("update")
        assert self.pulses == {
            "programmed": len(programs),
            "page_programmed": sum(len(work.pages) for work in programs),
            "sensed": len(self.works("sense")) + len(self.die.suspended_reads),
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

    async def _lose(self) -> None:
        await until(self.dut, self.dut.lost)
        self.lost_at = clock_now()

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
            assert request["kind"] == bus_kind(op)
            await wait(dut, random.randint(0, self.delay))
            dut.bus__ready.value = 1
            await RisingEdge(dut.clk)
            assert dut.bus__valid.value == 1
            meant = MEANT[op]
            if op is BusOp.DATA_OUT:
                meant = TO_ORIGIN if request["origin"] else TO_A_PLACE
            now = self._request()
            assert {name: now[name] for name in meant} == {name: request[name] for name in meant}
            dut.bus__ready.value = 0
            if self.lost_at is None:
                await wait(dut, self._length(op))
                status = self._perform(op, request)
            else:
                await wait(dut, 2)
                status = FAILED
                if op is BusOp.DATA_OUT:
                    self.lost_pages.append(request["tag"])
            dut.bus_done.value = 1
            dut.bus_status.value = status
            await RisingEdge(dut.clk)
            dut.bus_done.value = 0
            dut.bus_status.value = random.getrandbits(8)

    def _perform(self, op: BusOp, request: dict[str, int]) -> int:
        status = random.getrandbits(8)
        if op is BusOp.STATUS:
            status = self.die.status(clock_now())
        else:
            self._check(op, request)
        level = request.get("level", 0) if op is BusOp.SET_READ_LEVEL else 0
        self.die.operation(op, request["zone"], request["page"], request["plane"], clock_now(), level)
        if op is BusOp.DATA_OUT:
            self._check_output(request)
        return status

    def _request(self) -> dict[str, int]:
        return unpack(BUS_REQUEST, int(self.dut.bus__payload.value))

    def _length(self, op: BusOp) -> int:
        """Cycles from acceptance to done; the bus begins 1 to 3 cycles after it accepts."""
        if op in LOADS:
            return 3 + CONFIG.loaded_page_bytes // 2
        if op in (*PROGRAMS, BusOp.DATA_OUT):
            return 3 + PAGE_CYCLES
        return 3 + random.randint(CYCLES("twc"), 8 * CYCLES("twc"))

    def _check(self, op: BusOp, request: dict) -> None:
        """The operation belongs to the work that is next in line."""
        if op is BusOp.PROGRAM_PAGE:
            current = self.programmed[0]
            assert {name: request[name] for name in ("zone", "page")} == {
                name: current[name] for name in ("zone", "page")
            }
        elif op in PROGRAMS:
            current = self.programmed[0]
            self.loaded.append(request["plane"])
            last = request["plane"] == current["last"]
            assert op is (BusOp.PROGRAM_LAST if last else BusOp.PROGRAM_MORE)
            assert request["slot"] == current["slot"]
            if last:
                assert self.loaded == list(range(current["first"], current["last"] + 1))
                self.loaded = []
                self.programmed.popleft()
        elif op in (BusOp.ERASE_MORE, BusOp.ERASE_LAST):
            assert request["zone"] == self.zones[0]
            if op is BusOp.ERASE_LAST:
                self.zones.popleft()
        elif op is BusOp.LOAD_CONSTANTS:
            assert request["slot"] == self.constants.popleft()["slot"]
        elif op is BusOp.LOAD_GRADIENT:
            assert request["slot"] == self.gradients[0]["slot"]
            if request["plane"] == self.gradients[0]["last"]:
                self.gradients.popleft()
        elif op in UPDATES:
            self._check_update(op, request)

    def _check_update(self, op: BusOp, request: dict) -> None:
        """The die checks the order of the planes."""
        tile = self.tiles[0]
        assert len(self.die.gradients) == tile["last"] + 1
        of_source = (tile["source"], tile["source_page"])
        place = of_source if op is BusOp.UPDATE_SOURCE else (tile["zone"], tile["page"])
        assert (request["zone"], request["page"]) == place
        if op is BusOp.UPDATE_LAST:
            self.tiles.popleft()

    def _check_output(self, request: dict) -> None:
        block, number, page = self.die.output[-1]
        if block == COPY:
            tile, number = self.copied.popleft()
            assert (request["origin"], request["from_array"], page) == (1, 0, number)
            assert (request["slot"], request["plane"]) == (tile["slot"], number)
            assert len(self.results.items) <= self.order[id(tile)], "its slot is free already"
            return
        level = request.get("level", 0)
        expected = self.retried.popleft() if level else self.read.popleft()
        assert {name: request[name] for name in ("origin", "from_array", "tag", "buffer_block")} == {
            "origin": 0, "from_array": 1 - expected.get("statistics", 0),
            **{name: expected[name] for name in ("tag", "buffer_block")},
        }  # fmt: skip
        if CONFIG.read_levels and not expected.get("statistics", 0):
            assert (block, number, page) == (request["zone"], request["page"], request["plane"])
        if level:
            sense = self.works("sense")[-1]
            assert (sense.level, sense.pages) == (expected["level"], [(block, number, page)])
            assert level == expected["level"] == self.die.level
            return
        if expected["statistics"]:
            assert block == STATISTICS
        else:
            assert (block, number, page) == (expected["zone"], expected["page"], expected["plane"])


def a_set(row: int, **fields: int) -> dict:
    """A whole page set; slots come round."""
    return {"slot": row % CONFIG.write_sets, "zone": 1, "page": row % GEOMETRY.pages,
            "first": 0, "last": GEOMETRY.planes - 1, **fields}  # fmt: skip


def a_read(row: int, plane: int, **fields: int) -> dict:
    return {"zone": 1, "page": row % GEOMETRY.pages, "plane": plane,
            "tag": random.randrange(CONFIG.commands),
            "buffer_block": random.getrandbits(CONFIG.buffer_block_bits),
            "statistics": 0, **fields}  # fmt: skip


def an_update(row: int, **fields: int) -> dict:
    """A tile with all gradients that fit, without copies; slots come round."""
    return {"slot": row % CONFIG.write_sets, "zone": 2, "page": row % GEOMETRY.pages, "source": 3,
            "source_page": random.randrange(GEOMETRY.pages), "last": GEOMETRY.planes - 1, "copies": 0,
            "tag": row % CONFIG.commands, **fields}  # fmt: skip


def whole_rows(first: int, count: int) -> list[dict]:
    return [a_read(row, plane) for row in range(first, first + count) for plane in range(GEOMETRY.planes)]


async def send_random_work(bench: Bench, rows: int) -> None:
    """Page sets, reads and erases, with and without pauses. No page is read before it is programmed."""
    for row in range(rows):
        zone = random.randrange(2, GEOMETRY.zones)
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
        await wait(bench.dut, random.choice((0, 0, 5, 500, 5000)))


def random_lateness(kind: str, cycles: int) -> int:
    return round(cycles * random.choice((0.5, 1, 1, 1, 1.3, 2)))


def plain(history: list[tuple[int, BusOp]]) -> list[BusOp]:
    """What was done, without looks at the status."""
    return [op for _, op in history if op is not BusOp.STATUS]
