"""cocotb tests of the reader: its sequences on a die's registers, its waits, and a die that is lost."""

import random
from itertools import groupby, pairwise

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.die_agent.ready_poller import Work
from flashtrain.rtl.layouts import DieRead
from flashtrain.sim.bench.streams import StreamSource, pack, start
from flashtrain.spec.nand import BusOp, DieStatus
from tests.rtl.channel.die_agent.agent_units import CONFIG, agent_units
from tests.rtl.channel.die_agent.unit_surroundings import Event, Surroundings, chance

IDLE_INPUTS = agent_units().idle_inputs()
G, CYCLES = CONFIG.geometry, CONFIG.timing.cycles
READ = DieRead(CONFIG)
PLACE = ("zone", "page", "plane")
Page = tuple[int, int, int]
"""Zone, page and plane."""


def some_reads(count: int) -> list[dict[str, int]]:
    """Whole sets, single pages, pages of successive numbers, and now and then statistics."""
    reads: list[dict[str, int]] = []
    zone, page = 0, 0
    while len(reads) < count:
        if chance(0.3):
            zone, page = random.randrange(G.blocks), random.randrange(G.pages)
        statistics = chance(0.1)
        for plane in range(G.planes) if chance(0.7) and not statistics else [random.randrange(G.planes)]:
            reads.append({
                "zone": zone, "page": page, "plane": plane, "statistics": int(statistics),
                "tag": random.randrange(CONFIG.commands),
                "buffer_block": random.getrandbits(CONFIG.buffer_block_bits),
            })  # fmt: skip
        page = (page + 1) % G.pages
    return reads


class Registers:
    """The registers of a die that reads (ONFI 5.1, 5.15 and 5.16; suspended reads: `spec.nand`).

    Each operation is checked when it is sent: a sense needs its data registers free, an output a page that is
    there and selected.
    """

    def __init__(self):
        self.named: list[Page] = []
        self.sensed: list[Page] = []  # in the data registers, or soon
        self.cache: list[Page] = []
        self.selected: Page | None = None
        self.suspended = self.statistics_selected = False
        self.cached = False  # the data registers have a set that is to move to the cache registers
        self.ready = True

    def operation(self, event: Event) -> None:
        op, page = event.what, tuple(event.fields[name] for name in PLACE)
        assert self.ready or op is BusOp.STATUS, f"{op.name} to a busy die"
        match op:
            case BusOp.READ_MORE | BusOp.SUSPENDED_READ_MORE:
                self.named.append(page)
            case BusOp.READ_LAST:
                assert not self.cached and not self.suspended
                self._sense([*self.named, page])
                self.cache = self.sensed
            case BusOp.CACHE_READ_LAST | BusOp.CACHE_READ_NEXT:
                assert self.sensed and not self.suspended
                self.cache, self.cached = self.sensed, True
                following = [(zone, number + 1, plane) for zone, number, plane in self.sensed]
                self._sense([*self.named, page] if op is BusOp.CACHE_READ_LAST else following)
            case BusOp.CACHE_READ_END:
                assert self.cached
                self.cache, self.cached, self.ready = self.sensed, False, False
            case BusOp.SUSPENDED_READ_LAST:
                assert not self.suspended and not self.cached
                self.suspended = True
                self._sense([*self.named, page])
            case BusOp.SUSPENDED_READ_NEXT | BusOp.SUSPENDED_READ_RENEW:
                assert self.suspended == (op is BusOp.SUSPENDED_READ_RENEW) and self.sensed
                self.suspended = True
                self._sense([(zone, number + 1, plane) for zone, number, plane in self.sensed])
            case BusOp.SUSPENDED_READ_END:
                assert self.suspended
                self.suspended = False
            case BusOp.SELECT | BusOp.SUSPENDED_READ_SELECT:
                assert self.suspended == (op is BusOp.SUSPENDED_READ_SELECT)
                there = self.sensed if self.suspended else self.cache
                assert page in there, f"{page} is selected, which is not among {there}"
                self.selected = page
            case BusOp.SELECT_STATISTICS:
                assert not self.suspended
                self.statistics_selected = True
            case BusOp.DATA_OUT:
                assert self.statistics_selected or self.selected == page
                self.selected, self.statistics_selected = None, False
            case BusOp.STATUS:
                pass
            case _:
                raise AssertionError(f"{op.name} from a reader")

    def _sense(self, pages: list[Page]) -> None:
        planes = [plane for _, _, plane in pages]
        assert planes == sorted(set(planes)) and len({page[:2] for page in pages}) == 1, pages
        self.sensed, self.named, self.ready = pages, [], False


class Bench:
    def __init__(self, dut, busy: float, granted: float, name: str = "reader"):
        self.dut, self.name = dut, name
        self.source = StreamSource(dut, f"{name}__reads", busy)
        self.registers, self.granted = Registers(), granted
        self.polled = 0  # events of the log that the registers have had
        self.always_busy = False

    async def begin(self, **inputs: int) -> None:
        await start(
            self.dut, **IDLE_INPUTS | {f"{self.name}__{name}": value for name, value in inputs.items()}
        )
        self.around = Surroundings(
            self.dut, self.name, granted=self.granted, status=self._status, polls_itself=True
        )

    def follow(self) -> None:
        for event in self.around.log[self.polled :]:
            self.registers.operation(event)
        self.polled = len(self.around.log)

    def _status(self, work: Work) -> int:
        """The log has the status operation already."""
        self.follow()
        ready = DieStatus.RDY | DieStatus.ARDY | DieStatus.SUSPENDED_READ
        self.registers.ready = not self.always_busy and chance(0.8)
        return random.getrandbits(8) & ~ready.value | (ready.value if self.registers.ready else 0)

    async def read(self, reads: list[dict[str, int]]) -> None:
        for read in reads:
            self.source.send(pack(READ, **read))
        await self.around.until(lambda: self.around.whats.count(BusOp.DATA_OUT) == len(reads))
        await self.around.quiet()
        self.follow()
        out = [event for event in self.around.log if event.what is BusOp.DATA_OUT]
        for event, read in zip(out, reads, strict=True):
            names = ("tag", "buffer_block") + (() if read["statistics"] else PLACE)
            assert {name: event.fields[name] for name in names} == {name: read[name] for name in names}
            assert event.fields["from_array"] == 1 - read["statistics"] and not event.fields["origin"]


@cocotb.test()
@cocotb.parametrize(busy=[1.0, 0.05], granted=[1.0, 0.5])
async def reads_come_out_in_order(dut, busy, granted):
    """Of random sets: each page of its set is sensed, selected and output once, to its own place."""
    bench = Bench(dut, busy, granted)
    await bench.begin()
    await bench.read(some_reads(40 if busy == 1 else 12))
    ops = set(bench.around.whats)
    if busy == granted == 1:
        assert {BusOp.CACHE_READ_NEXT, BusOp.CACHE_READ_LAST, BusOp.CACHE_READ_END} <= ops
    assert not any("SUSPENDED" in op.name for op in ops)


@cocotb.test()
@cocotb.parametrize(busy=[1.0, 0.05])
async def suspends_without_a_grant(dut, busy):
    """While another unit programs, sets are sensed by BCh and BDh, output, and ended or renewed."""
    bench = Bench(dut, busy, granted=0.0)
    await bench.begin(suspendable=1, array_busy=1)
    reads = [read for read in some_reads(40 if busy == 1 else 12) if not read["statistics"]]
    await bench.read(reads)
    assert not bench.registers.suspended and not bench.around.started
    ops = set(bench.around.whats)
    assert {BusOp.SUSPENDED_READ_LAST, BusOp.SUSPENDED_READ_END, BusOp.SUSPENDED_READ_SELECT} <= ops
    if busy == 1:
        assert BusOp.SUSPENDED_READ_RENEW in ops


def pages_of_a_row() -> list[dict]:
    """A read of one page on each plane."""
    return [
        {"zone": 1, "page": 2, "plane": plane, "statistics": 0, "tag": plane, "buffer_block": plane}
        for plane in range(G.planes)
    ]


@cocotb.test()
async def sets_are_deferred_and_pages_are_not(dut):
    """With `defer_sets` a suspended read of one page begins; one of several does when it is low again."""
    bench = Bench(dut, 1.0, granted=0.0)
    await bench.begin(suspendable=1, array_busy=1, defer_sets=1)
    pages = pages_of_a_row()
    await bench.read(pages[:1])
    for page in pages:
        bench.source.send(pack(READ, **page))
    for _ in range(400):
        await RisingEdge(dut.clk)
    assert bench.around.whats.count(BusOp.DATA_OUT) == 1
    dut.reader__defer_sets.value = 0
    await bench.around.until(lambda: bench.around.whats.count(BusOp.DATA_OUT) == 1 + len(pages))


@cocotb.test()
async def a_set_that_waits_is_deferred_with_the_programs_begin(dut):
    """The set is complete before a program begins; `suspendable` comes a cycle after `defer_sets`."""
    bench = Bench(dut, 1.0, granted=0.0)
    await bench.begin()
    for page in pages_of_a_row():
        bench.source.send(pack(READ, **page))
    for _ in range(100):
        await RisingEdge(dut.clk)
    dut.reader__defer_sets.value = 1
    await RisingEdge(dut.clk)
    dut.reader__suspendable.value = 1
    dut.reader__array_busy.value = 1
    for _ in range(400):
        await RisingEdge(dut.clk)
    assert not bench.around.whats
    dut.reader__defer_sets.value = 0
    await bench.around.until(lambda: bench.around.whats.count(BusOp.DATA_OUT) == G.planes)


@cocotb.test()
async def waits_as_long_as_the_die_takes(dut):
    """tWB and tR before the status of a sense, tCCS before data, tWB and tDBSY between the planes."""
    bench = Bench(dut, 1.0, granted=1.0)
    bench.around_delay = 0
    await bench.begin()
    bench.around.delay = 0
    await bench.read(pages_of_a_row())
    log = bench.around.log
    least = {
        (BusOp.READ_MORE, BusOp.READ_LAST): ("twb", "tdbsy"),
        (BusOp.READ_LAST, BusOp.STATUS): ("twb", "tr"),
        (BusOp.SELECT, BusOp.DATA_OUT): ("tccs",),
    }
    seen = set()
    for (before, after), _ in groupby(pairwise(log)):
        if (before.what, after.what) in least:
            seen.add((before.what, after.what))
            passed = after.cycle - before.cycle - 4  # from the end of the operation; no delay
            expected = sum(map(CYCLES, least[before.what, after.what]))
            assert 0 <= passed - expected <= 8, (before.what, after.what, passed, expected)
    assert len(seen) == len(least)


@cocotb.test()
async def a_die_that_stays_busy_is_lost(dut):
    """`lost` comes with the poll that exceeds the limit, and not before."""
    bench = Bench(dut, 1.0, granted=1.0)
    await bench.begin()
    bench.always_busy = True
    bench.source.send(pack(READ, **some_reads(1)[0] | {"statistics": 0}))
    while not dut.reader__lost.value:
        await RisingEdge(dut.clk)
    assert bench.around.whats.count(BusOp.STATUS) == CONFIG.late_polls
