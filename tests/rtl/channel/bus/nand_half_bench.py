"""cocotb tests of the NAND half at full load: every pin is checked, and the dies are models on the pins."""

import random

import cocotb
from cocotb.triggers import Event, RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.bus.nand_helpers import CONFIGS
from tests.rtl.channel.bus.pin_monitor import Operation, PinMonitor
from tests.rtl.channel.die_model import DieModel
from tests.rtl.channel.timeout_streams import clock_now, until, wait

PARAMETERS = bench_parameters()
CONFIG = CONFIGS[PARAMETERS["config"]]
GEOMETRY = CONFIG.geometry


class Bench:
    """A model of each die behind the pins."""

    def __init__(self, dut):
        self.dut = dut
        self.dies = [DieModel(CONFIG, f"die {number}") for number in range(GEOMETRY.dies)]
        self.pages_out: list[int] = []  # when each ended
        self.asked = Event()
        self.answer = 0

    async def start(self) -> None:
        await start(self.dut, within=30_000_000, program=0, read=0, answer=0)
        self.monitor = PinMonitor(self.dut, CONFIG, self._operation, self._status)
        cocotb.start_soon(self._answer())
        await until(self.dut, self.dut.ready)

    def _operation(self, operation: Operation) -> None:
        row = operation.row
        page = row & (1 << GEOMETRY.page_bits) - 1
        plane = row >> GEOMETRY.page_bits & GEOMETRY.planes - 1
        block = row >> GEOMETRY.page_bits + GEOMETRY.plane_bits
        if operation.op is BusOp.DATA_OUT:
            self.pages_out.append(operation.end)
        self.dies[operation.die].operation(operation.op, block, page, plane, operation.end)

    def _status(self, die: int, clock: int) -> None:
        self.answer = self.dies[die].status(clock)
        self.asked.set()

    async def _answer(self) -> None:
        """The monitor looks at the end of a clock; the byte is on the pins in the next one."""
        while True:
            await self.asked.wait()
            self.asked.clear()
            await RisingEdge(self.dut.clk)
            self.dut.answer.value = self.answer

    def programming(self, begin: int, end: int) -> list[float]:
        """Share of the time in which each die's array programs."""
        return [die.busy_share("program", begin, end) for die in self.dies]

    def output(self, begin: int, end: int) -> float:
        """Share of the bus that is data of pages from dies."""
        ends = [clock for clock in self.pages_out if begin <= clock < end]
        return (len(ends) - 1) * CONFIG.bus_page_bytes / 2 / (ends[-1] - ends[0])


@cocotb.test()
async def programs_all_the_time(dut):
    bench = Bench(dut)
    await bench.start()
    dut.program.value = 1
    tprog = CONFIG.timing.cycles("tprog")
    await wait(dut, 2 * tprog)
    begin = clock_now()
    await wait(dut, PARAMETERS["programs"] * tprog)
    shares = bench.programming(begin, clock_now())
    load = bench.monitor.beats_in / clock_now()
    polls = sum(die.polls for die in bench.dies) / sum(len(die.works) for die in bench.dies)
    dut._log.info(f"arrays program {shares} of the time; bus {load:.3f} data in, {polls:.2f} polls per set")
    assert min(shares) >= PARAMETERS["program_share"]


@cocotb.test()
async def reads_at_the_rate_of_the_bus(dut):
    bench = Bench(dut)
    await bench.start()
    dut.read.value = 1
    await wait(dut, 8 * GEOMETRY.page_bytes)
    begin = clock_now()
    await wait(dut, PARAMETERS["reads"] * GEOMETRY.page_bytes)
    share = bench.output(begin, clock_now())
    polls = sum(die.polls for die in bench.dies) / sum(len(die.works) for die in bench.dies)
    dut._log.info(f"bus {share:.4f} data out, {polls:.2f} polls per set")
    assert PARAMETERS["read_share"] <= share < 1


@cocotb.test()
async def does_both(dut):
    """Reads go on beside programs, and neither side starves: each keeps half of what it has alone.

    But programs no more than the die's own rule leaves them: they advance for tADV between two suspensions.
    """
    bench = Bench(dut)
    await bench.start()
    dut.program.value = 1
    dut.read.value = 1
    tprog, tr = CONFIG.timing.cycles("tprog"), CONFIG.timing.cycles("tr")
    page_set = GEOMETRY.planes * CONFIG.bus_page_bytes // 2  # cycles of its data on the bus
    # How long a page set takes a die that does nothing else: the array or the bus is the bound.
    a_program = max(tprog, GEOMETRY.dies * page_set) / PARAMETERS["program_share"]
    a_read = max(tr, GEOMETRY.dies * page_set) / PARAMETERS["read_share"]
    tadv, suspension = CONFIG.timing.cycles("tadv"), sum(map(CONFIG.timing.cycles, ("tsusp", "tr", "tres")))
    least = min(1 / 2, tadv / (tadv + suspension))
    await wait(dut, 3 * tprog)
    begin = clock_now()
    await wait(dut, 8 * tprog)
    end = clock_now()
    for die in bench.dies:
        programs = sum(work.kind == "program" and begin <= work.end < end for work in die.works)
        reads = sum(begin <= work.end < end for work in die.suspended_reads)
        dut._log.info(f"{die.name}: {programs} programs, {reads} reads beside")
        assert all(work.kind == "program" for work in die.works if work.begin >= begin)
        assert programs + 1 >= (end - begin) * least / a_program, die.name
        assert reads + 1 >= (end - begin) / (2 * a_read), die.name


@cocotb.test()
async def starts_again_after_a_reset(dut):
    """A reset in the middle of anything: each die is reset first, and then all goes on."""
    bench = Bench(dut)
    await bench.start()
    dut.program.value = 1
    dut.read.value = 1
    for _ in range(5):
        await wait(dut, random.randint(1, 2 * CONFIG.timing.cycles("tprog")))
        dut.rst.value = 1
        await wait(dut, 3)
        dut.rst.value = 0
        before = [len(die.history) for die in bench.dies]
        begin = clock_now()
        await until(dut, dut.ready)
        assert clock_now() - begin >= CONFIG.timing.cycles("trst")
        for die, count in zip(bench.dies, before, strict=True):
            assert die.history[count][1] is BusOp.RESET
    works = [(len(die.works), len(die.suspended_reads)) for die in bench.dies]
    await wait(dut, 4 * CONFIG.timing.cycles("tprog"))
    for die, (programs, suspended_reads) in zip(bench.dies, works, strict=True):
        assert len(die.works) > programs and len(die.suspended_reads) > suspended_reads, die.name
