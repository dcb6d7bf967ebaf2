"""Schedules of the update unit: that they are possible, deliver the right values, and are small."""

import pytest

from flashtrain.rtl.die.update_unit import search
from flashtrain.rtl.die.update_unit.delay import chain_cost
from flashtrain.rtl.die.update_unit.estimate import CHOICE, CLOCK, FIXED_CHOICE
from flashtrain.rtl.die.update_unit.schedule import (
    CODES,
    PORTS,
    Chain,
    ProgramSchedule,
    Schedule,
    Slot,
    Stored,
    Timing,
    Unit,
)
from flashtrain.rtl.die.update_unit.search import find_schedule, schedule_cost
from flashtrain.rtl.die.update_unit.tasks import SQUARES, ConstantWord, Fixed, Kind, Task, tasks_of
from flashtrain.spec import ConfigError
from flashtrain.spec.optimizer import PROGRAMS, Input, Op, OptimizerCode

TIMINGS = [
    Timing(interval=1, widen=1, multiply_add=6, multiply=5, add=4, divide=30, root=29, sign=2, narrow=1),
    Timing(interval=2, widen=2, multiply_add=9, multiply=9, add=7, divide=31, root=32, sign=3, narrow=3),
    Timing(interval=5, widen=1, multiply_add=10, multiply=8, add=11, divide=33, root=33, sign=2, narrow=2),
    Timing(interval=10, widen=1, multiply_add=1, multiply=2, add=1, divide=4, root=5, sign=1, narrow=1),
]

KINDS = {
    Op.MUL: Kind.MULTIPLY,
    Op.ADD: Kind.ADD,
    Op.SUB: Kind.ADD,
    Op.FMA: Kind.MULTIPLY_ADD,
    Op.DIV: Kind.DIVIDE,
    Op.SQRT: Kind.ROOT,
    Op.SIGN: Kind.SIGN,
}
FUSED = {Kind.MULTIPLY: Kind.MULTIPLY_ADD, Kind.ADD: Kind.MULTIPLY_ADD}
"""What else can do products and sums."""


@pytest.fixture(params=TIMINGS, ids=lambda timing: f"interval {timing.interval}")
def schedule(request):
    return find_schedule(request.param)


def test_units_are_the_least_that_do_the_work():
    units = {timing.interval: timing.units for timing in TIMINGS}
    mixtures = {
        interval: [some[kind] for kind in (Kind.MULTIPLY_ADD, Kind.MULTIPLY, Kind.ADD, Kind.DIVIDE)]
        for interval, some in units.items()
    }
    assert mixtures == {1: [5, 4, 3, 2], 2: [3, 2, 1, 1], 5: [1, 1, 1, 1], 10: [1, 1, 0, 1]}
    single = (Kind.ROOT, Kind.SIGN, Kind.NARROW, Kind.OUTPUT)
    assert all(some[kind] == 1 for some in units.values() for kind in single)


@pytest.mark.parametrize("code", CODES)
def test_tasks_are_the_operations_of_the_program(code):
    tasks, program = tasks_of(code), PROGRAMS[code]
    by_name = {task.name: task for task in tasks}
    assert len(by_name) == len(tasks) == len(program.operations) + 4  # gradient, squares, copy, output
    for operation in program.operations:
        task = by_name[operation.name]
        assert task.kind is KINDS[operation.op]
        assert task.subtract == (operation.op is Op.SUB)
    output = by_name["output"]
    names = [operand.name if isinstance(operand, Task) else None for operand in output.operands]
    assert names == ["w", program.m and "m", program.v and "v", "copy"]


def test_no_unit_is_asked_twice_in_a_phase(schedule):
    for program in schedule.programs.values():
        assert program.slots.keys() == set(tasks_of(program.code))
        assert len(set(program.slots.values())) == len(program.slots)
        for task, slot in program.slots.items():
            assert slot.unit.kind in (task.kind, FUSED.get(task.kind))
            assert slot.unit.index < schedule.timing.units[slot.unit.kind]
            assert program.times[task] % schedule.timing.interval == slot.phase


def test_operands_are_values_that_are_there(schedule):
    """Plays the registers of every chain, clock by clock, with every value marked by its parameter."""
    interval = schedule.timing.interval
    for program in schedule.programs.values():
        for (task, port), tap in program.operands.items():
            operand, time = task.operands_on(program.slots[task].unit.kind)[port], program.times[task]
            if isinstance(operand, ConstantWord | Fixed):
                assert tap == operand
                continue
            unit = program.slots[operand].unit if isinstance(operand, Task) else operand
            shown = (
                program.times[operand] + schedule.timing.latency(program.slots[operand].unit.kind)
                if isinstance(operand, Task)
                else 0
            )
            if tap == unit:
                assert time == shown
                continue
            assert isinstance(tap, Stored) and tap.chain.source == unit
            registers = [None] * tap.depth
            parameter = 50  # one after many others
            for clock in range(parameter * interval + time):
                if clock % interval == tap.chain.phase:
                    visible = (clock - shown) // interval if (clock - shown) % interval == 0 else "another"
                    registers = [visible, *registers[:-1]]
            assert registers[-1] == parameter, (program.code, task.name, port, tap)


def test_squares_are_counted_at_one_place_and_time(schedule):
    slot, time = schedule.squares
    for program in schedule.programs.values():
        (squares,) = [task for task in program.slots if task.name == SQUARES]
        assert (program.slots[squares], program.times[squares]) == (slot, time)


def test_latencies_are_near_the_longest_way(schedule):
    timing = schedule.timing
    ends = timing.widen + timing.narrow
    longest = {
        OptimizerCode.SGD: ends + timing.multiply + 2 * timing.multiply_add,
        OptimizerCode.ADAM: (
            ends + 2 * timing.multiply + 2 * timing.multiply_add + 2 * timing.add
            + 2 * timing.divide + timing.root
        ),
    }  # fmt: skip
    for code, way in longest.items():
        assert way < schedule.programs[code].latency <= way + 1 + 5 * timing.interval


def test_the_search_pays(schedule, monkeypatch):
    monkeypatch.setattr(search, "ATTEMPTS", 0)
    begin = find_schedule.__wrapped__(schedule.timing)
    assert schedule_cost(schedule) < 0.98 * schedule_cost(begin)


def test_the_estimate_is_what_the_schedule_needs(schedule):
    """Counted again, from the operands and chains of which the hardware is built."""
    units = {slot.unit for program in schedule.programs.values() for slot in program.slots.values()}
    taps = [tap for unit in units for port in range(PORTS[unit.kind]) for tap in schedule.taps(unit, port)]
    fixed = sum(isinstance(tap, ConstantWord | Fixed) for tap in taps)
    assert schedule_cost(schedule) == (
        FIXED_CHOICE * fixed
        + CHOICE * (len(taps) - fixed)
        + sum(chain_cost(depths) for depths in schedule.chains.values())
        + CLOCK * sum(program.latency for program in schedule.programs.values())
    )


def test_the_same_schedule_every_time():
    timing = TIMINGS[2]
    first, second = find_schedule(timing), find_schedule.__wrapped__(timing)
    for code in CODES:
        assert first.programs[code].slots == second.programs[code].slots


def test_squares_elsewhere_are_refused():
    found = find_schedule(TIMINGS[2])
    program = found.programs[OptimizerCode.SGD]
    moved = {
        task: Slot(Unit(Kind.MULTIPLY_ADD, 1), 4) if task.name == SQUARES else slot
        for task, slot in program.slots.items()
    }
    programs = {**found.programs, program.code: ProgramSchedule(program.code, found.timing, moved)}
    with pytest.raises(ConfigError, match="one for all programs"):
        _ = Schedule(found.timing, programs).squares


def test_timing_is_checked():
    with pytest.raises(ConfigError, match=r"timing\.widen is 0; expected 1 or more"):
        Timing(interval=5, widen=0, multiply_add=9, multiply=9, add=9, divide=30, root=30, sign=1, narrow=1)
    with pytest.raises(ConfigError, match="expected at most 7, since there are 8 sums"):
        Timing(interval=1, widen=1, multiply_add=8, multiply=9, add=9, divide=30, root=30, sign=1, narrow=1)


def test_chains_are_read_where_something_is(schedule):
    used = schedule.chains
    assert Chain(Input.W, 0) in used
    assert all(depths and depths == sorted(set(depths)) and depths[0] >= 1 for depths in used.values())
