"""cocotb tests of the bus controller's units: each against a reference model, in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.bus.bus_cycles import NextPhase, Step
from flashtrain.sim.bench.streams import start
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.bus.bus_units import DIES, GRANT_CYCLES, SENT_CYCLES, TIMING, bus_units
from tests.rtl.channel.bus.pin_monitor import FEATURE, OPERATIONS, TAKES_DATA
from tests.rtl.side_by_side import Unit

CYCLES = 2_000
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
