"""cocotb tests of the bus controller's units: each against a reference model, in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.bus.bus_cycles import NextPhase, Step
from flashtrain.sim.bench.streams import start
from flashtrain.spec.nand import BusOp
from tests.chip.sdr_times import LONGEST, MODES
from tests.rtl.channel.bus.bus_units import DIES, GRANT_CYCLES, SDR, SENT_CYCLES, TIMING, bus_units
from tests.rtl.channel.bus.pin_monitor import FEATURE, OPERATIONS, TAKES_DATA
from tests.rtl.side_by_side import Unit

CYCLES = 2_000
STROBES = 60
"""In each mode, in each direction."""
IDLE_INPUTS = bus_units().idle_inputs()


async def started(dut, name: str) -> Unit:
    await start(dut, **IDLE_INPUTS)
    return Unit(dut, name)


def chance(share: float) -> bool:
    return random.random() < share


@cocotb.test()
async def blocks_dies_for_their_turnaround(dut):
    """A choice of the arbiter is free when its first cycle on the pins is tRHW or tCHZ behind the beat."""
    unit = await started(dut, "turnaround")
    trhw, tchz = TIMING.cycles("trhw"), TIMING.cycles("tchz")
    sent_at, sender, blocked_once = -1000, 0, 0
    for cycle in range(CYCLES):
        die, sends = random.randrange(DIES), chance(0.05)
        unit.drive(sent=sends, die=die)
        await RisingEdge(dut.clk)
        blocked = 0
        for number in range(DIES):
            time = trhw if number == sender else tchz
            free = cycle + GRANT_CYCLES >= sent_at - SENT_CYCLES + time
            blocked |= (not free) << number
        assert unit["blocked"] == blocked
        blocked_once |= blocked
        if sends:
            sent_at, sender = cycle, die
    assert blocked_once == (1 << DIES) - 1


@cocotb.test()
async def sequences_every_operation(dut):
    """Commands, addresses and their order are those that the pin monitor expects (ONFI 5.1)."""
    unit = await started(dut, "sequencer")
    for (first, addresses, second), op in OPERATIONS.items():
        row = random.getrandbits(24)
        row_bytes = [row & 0xFF, row >> 8 & 0xFF, row >> 16]
        middle = {0: [], 1: [FEATURE], 3: row_bytes, 5: [0, 0, *row_bytes]}[addresses]
        expected = [(0, first), *((1, byte) for byte in middle)]
        third = None
        if op in TAKES_DATA and second is None:
            expected, third = [], first  # its page has an address already
        elif op in TAKES_DATA:
            third = second
        elif second is not None:
            expected.append((0, second))
        if expected:
            phase = await sequence(dut, unit, op, row, Step.FIRST, expected)
            if op in TAKES_DATA or op is BusOp.SET_READ_LEVEL:
                assert phase is NextPhase.DATA_IN
            elif op in (BusOp.STATUS, BusOp.STATUS_PLANE):
                assert phase is NextPhase.STATUS
            else:
                assert phase is NextPhase.END
        if third is not None:
            phase = await sequence(dut, unit, op, row, Step.THIRD, [(0, third)])
            assert phase is NextPhase.END


async def sequence(dut, unit: Unit, op: BusOp, row: int, step: Step, expected: list) -> NextPhase:
    """Compare the cycles from `step` on; returns the phase behind the last one."""
    for number, (address, byte) in enumerate(expected):
        unit.drive(op=op.value, row=row, step=step.value)
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        assert (unit["address"], unit["byte"]) == (address, byte), (op.name, step.name)
        phase = NextPhase(unit["next_phase"])
        assert (phase is NextPhase.CYCLE) == (number < len(expected) - 1), (op.name, step.name)
        step = Step(unit["next_step"])
    return phase


class Strobes:
    """The strobe in one direction, and the clocks in which it falls, rises, and has a byte taken."""

    def __init__(self, dut, unit: Unit, reads: int):
        self._dut, self._unit, self._reads = dut, unit, reads
        self.clock, self._was_low = 0, 0
        self.falls: list[int] = []
        self.rises: list[int] = []
        self.taken: list[int] = []

    async def tick(self, run: int) -> bool:
        """One clock; whether a cycle has ended in it."""
        unit = self._unit
        unit.drive(run=run)
        await RisingEdge(self._dut.clk)
        self.clock += 1
        low = unit["low"]
        if low != self._was_low:
            (self.falls if low else self.rises).append(self.clock)
        self._was_low = low
        if self._reads:
            assert unit["pending"] == (len(self.taken) < len(self.falls))
        if unit["capture"]:
            self.taken.append(self.clock)
        return bool(unit["ended"])


@cocotb.test()
async def strobes_keep_the_times_of_the_standard(dut):
    """Each byte of the chip is taken while it is there. Cycles follow each other at once, or later."""
    unit = await started(dut, "strobe")
    period = 1000 / SDR.timing.clock_mhz
    for mode, reads in [(mode, reads) for mode in range(6) for reads in (0, 1)]:
        least, longest = MODES[mode], LONGEST[mode]
        unit.drive(mode=mode, reads=reads, run=0)
        for _ in range(2):
            await RisingEdge(dut.clk)
        strobes, ends = Strobes(dut, unit, reads), []
        for _ in range(STROBES):
            for _ in range(random.choice((0, 0, 0, 1, 5))):
                await strobes.tick(0)
            while not await strobes.tick(1):
                pass
            ends.append(strobes.clock)
        for _ in range(20):
            await strobes.tick(0)
        falls, rises, taken = strobes.falls, strobes.rises, strobes.taken
        assert len(falls) == len(rises) == STROBES and len(taken) == reads * STROBES, (mode, reads)
        lows = ("tRP",) if reads else ("tWP", "tDS", "tCLS", "tALS")
        highs = ("tREH",) if reads else ("tWH", "tDH", "tCLH", "tALH", "tCH")
        for fall, rise, end in zip(falls, rises, ends, strict=True):
            assert (rise - fall) * period >= max(least[name] for name in lows), (mode, reads)
            assert (end + 1 - rise) * period >= max(least[name] for name in highs), (mode, reads)
            assert (end + 1 - fall) * period >= least["tRC" if reads else "tWC"], (mode, reads)
        if reads:
            later = [*falls[1:], falls[-1] + 1000]
            for fall, rise, following, moment in zip(falls, rises, later, taken, strict=True):
                at_chip = (moment - SDR.port_delay) * period
                assert at_chip > fall * period + longest["tREA"], mode
                ends_at = min(rise * period + least["tRHOH"], following * period + least["tRLOH"])
                assert at_chip < ends_at, mode
