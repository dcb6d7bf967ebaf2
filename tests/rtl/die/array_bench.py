"""The array model alone: its time to the clock, and what a die's logic cannot provoke."""

from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from flashtrain.rtl.die import ArrayOp
from flashtrain.sim.bench.parameters import bench_parameters

# Defaults of the module's parameters.
TR, TSUSP, TRES, TADV = 100, 10, 10, 30
TIMES = {ArrayOp.SENSE: 100, ArrayOp.PROGRAM: 100, ArrayOp.ERASE: 100}
WORDS = 17
MESSAGES = Path("violations.txt")


class Array:
    def __init__(self, dut):
        self.dut = dut

    async def start(self) -> None:
        dut = self.dut
        for pin in (dut.start, dut.op, dut.planes, dut.page, dut.blocks, dut.abort_op, dut.from_register,
                    dut.level):  # fmt: skip
            pin.value = 0
        dut.channel.value, dut.die.value, dut.cycle.value = 7, 3, 0
        dut.rst.value = 1
        Clock(dut.clk, 2, "ns", impl="gpi").start()
        cocotb.start_soon(self._count())
        await ClockCycles(dut.clk, 2)
        dut.rst.value = 0
        await RisingEdge(dut.clk)
        self._violations_before = int(dut.violations.value)

    async def _count(self):
        cycle = 0
        while True:
            await RisingEdge(self.dut.clk)
            cycle += 1
            self.dut.cycle.value = cycle

    async def begin(self, op: ArrayOp, *, planes: int = 1, block: int = 0, page: int = 0) -> None:
        dut = self.dut
        dut.op.value, dut.planes.value, dut.blocks.value, dut.page.value = op.value, planes, block, page
        dut.start.value = 1
        await RisingEdge(dut.clk)
        dut.start.value = 0

    async def busy_cycles(self) -> int:
        """Cycles from the start to the first in which another may start."""
        cycles = 0
        while True:
            await RisingEdge(self.dut.clk)
            cycles += 1
            if self.dut.busy.value == 0:
                return cycles

    @property
    def violations(self) -> int:
        return int(self.dut.violations.value) - self._violations_before


async def started(dut) -> Array:
    array = Array(dut)
    await array.start()
    return array


@cocotb.test()
async def times(dut):
    array = await started(dut)
    for op in (ArrayOp.ERASE, ArrayOp.PROGRAM, ArrayOp.SENSE):
        await array.begin(op)
        assert await array.busy_cycles() == TIMES[op]
    assert array.violations == 0


@cocotb.test()
async def words_move_within_the_time(dut):
    """A program takes all words first, a sense gives them last; one word per clock."""
    array = await started(dut)
    for op, strobe in [(ArrayOp.ERASE, None), (ArrayOp.PROGRAM, dut.take), (ArrayOp.SENSE, dut.put)]:
        await array.begin(op)
        moved = []
        for clock in range(1, TIMES[op] + 1):
            await RisingEdge(dut.clk)
            assert not (dut.take.value == 1 and op is not ArrayOp.PROGRAM)
            assert not (dut.put.value == 1 and op is not ArrayOp.SENSE)
            if strobe is not None and strobe.value == 1:
                moved.append((clock, int(dut.word.value)))
        assert dut.busy.value == 0
        if strobe is not None:
            assert [word for _, word in moved] == list(range(WORDS))
            assert moved[-1][0] - moved[0][0] == WORDS - 1
    assert array.violations == 0


@cocotb.test()
async def start_while_busy(dut):
    array = await started(dut)
    await array.begin(ArrayOp.ERASE)
    await ClockCycles(dut.clk, 10)
    assert array.violations == 0
    dut.op.value = ArrayOp.SENSE.value
    dut.start.value = 1
    await RisingEdge(dut.clk)
    dut.start.value = 0
    await RisingEdge(dut.clk)
    assert array.violations == 1
    if bench_parameters()["verilator"]:
        message = MESSAGES.read_text(encoding="utf-8").splitlines()[-1]
        assert "channel 7 die 3: start of an operation while another runs" in message
    while dut.busy.value == 1:
        await RisingEdge(dut.clk)


@cocotb.test()
async def no_plane(dut):
    array = await started(dut)
    await array.begin(ArrayOp.ERASE, planes=0)
    await ClockCycles(dut.clk, 2)
    assert array.violations == 1
    assert await array.busy_cycles() == TIMES[ArrayOp.ERASE] - 2


@cocotb.test()
async def an_aborted_erase_spends_the_block(dut):
    array = await started(dut)
    await array.begin(ArrayOp.ERASE, block=1)
    await ClockCycles(dut.clk, 5)
    dut.abort_op.value = 1
    await RisingEdge(dut.clk)
    dut.abort_op.value = 0
    assert await array.busy_cycles() == 1
    await array.begin(ArrayOp.PROGRAM, block=1)
    await array.busy_cycles()
    assert array.violations == 1, "the block needs a whole erase"
    await array.begin(ArrayOp.ERASE, block=1)
    await array.busy_cycles()
    await array.begin(ArrayOp.PROGRAM, block=1)
    await array.busy_cycles()
    assert array.violations == 1


async def sensed(array: Array) -> list[tuple[int, int]]:
    """Cycles since a suspended read's start, and numbers of its words; then the clock of its end."""
    dut, words, clock = array.dut, [], 0
    while True:
        await RisingEdge(dut.clk)
        clock += 1
        if dut.put.value == 1:
            words.append((clock, int(dut.word.value)))
        if dut.sensing.value == 0:
            return [*words, (clock, WORDS)]


async def do(array: Array, op: ArrayOp, **place: int) -> None:
    await array.begin(op, **place)
    await array.busy_cycles()


@cocotb.test()
async def suspended_reads_to_the_clock(dut):
    """The program is suspended when it has advanced enough, then at once, and not if it has ended by then."""
    array = await started(dut)
    await do(array, ArrayOp.ERASE)
    await do(array, ArrayOp.PROGRAM)
    program = TIMES[ArrayOp.PROGRAM]
    for asked, suspended in [(5, TADV), (60, 60), (program - 20, program - 20)]:
        await do(array, ArrayOp.ERASE, block=1)
        await array.begin(ArrayOp.PROGRAM, block=1)
        await ClockCycles(dut.clk, asked - 1)
        await array.begin(ArrayOp.SUSPENDED_READ)
        words = await sensed(array)
        sense_ends = suspended + TSUSP + TR - asked
        assert [number for _, number in words] == list(range(WORDS + 1))
        assert words[-1][0] == sense_ends
        assert await array.busy_cycles() == program - suspended + TRES
    await do(array, ArrayOp.ERASE, block=1)
    await array.begin(ArrayOp.PROGRAM, block=1)
    await ClockCycles(dut.clk, program - TADV // 2)
    await array.begin(ArrayOp.SUSPENDED_READ)
    await sensed(array)
    # There is less left than TADV: it is not suspended again.
    await ClockCycles(dut.clk, TRES)
    await array.begin(ArrayOp.SUSPENDED_READ)
    assert (await sensed(array))[-1][0] <= TR + TADV // 2 + 2
    assert dut.busy.value == 0
    assert array.violations == 0


@cocotb.test()
async def one_suspended_read_at_a_time(dut):
    array = await started(dut)
    await do(array, ArrayOp.ERASE)
    await do(array, ArrayOp.PROGRAM)
    for op in (ArrayOp.SUSPENDED_READ, ArrayOp.PROGRAM):
        before = array.violations
        await array.begin(ArrayOp.SUSPENDED_READ)
        await array.begin(op, page=1)
        await sensed(array)
        assert array.violations == before + 1
