"""Finds a schedule that needs few registers and small choices of operands.

Every assignment that gives each task a slot of its own is a schedule, because times follow from slots and
wait for operands. So the search begins with the earliest slots, exchanges the contents of two slots at a
time, and ends with the cheapest schedule it came across. In the beginning it also goes on from schedules that
are a bit dearer (simulated annealing). Its random numbers come from a fixed seed: the same timing has the
same schedule, always.
"""

import random
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from math import exp

from flashtrain.spec.optimizer import OptimizerCode

from .delay import chain_cost
from .schedule import CODES, Chain, ProgramSchedule, Schedule, Slot, Slots, Stored, Tap, Timing, Unit
from .tasks import SQUARES, ConstantWord, Fixed, Kind, Task, tasks_of

ATTEMPTS = 8000
"""Three times as many find nothing much better."""
WARMTH = 10
"""How much dearer an attempt may be in the beginning, roughly."""

CHOICE = 20
"""Look-up tables for one more operand of 32 bits to choose from."""
FIXED_CHOICE = 10
CLOCK = 2
"""What a clock of latency is worth: it is a bit of each chain, and idle time at the end of each tile."""

ADAM, ADAMW, ADAM_FAST, ADAMW_FAST = CODES[OptimizerCode.ADAM :]
TOGETHER = (
    *((code,) for code in CODES),
    (OptimizerCode.MOMENTUM, OptimizerCode.NESTEROV),
    (ADAM, ADAM_FAST),
    (ADAMW, ADAMW_FAST),
    (ADAM, ADAMW, ADAM_FAST, ADAMW_FAST),
    CODES,
)
"""Programs that are alike enough to be changed at once."""


@cache
def find_schedule(timing: Timing) -> Schedule:
    """A schedule of all programs."""
    programs = {code: ProgramSchedule(code, timing, _earliest(code, timing)) for code in CODES}
    cost = schedule_cost(programs)
    cheapest, least = programs, cost
    source = random.Random(0)
    # The squares keep their slot, the same in all programs: they are counted at one place and time.
    fixed = {slot for task, slot in programs[ADAM].slots.items() if task.name == SQUARES}
    free = {kind: [slot for slot in _slots(kind, timing) if slot not in fixed] for kind in Kind}
    exchanges = [exchange for slots in free.values() for exchange in combinations(slots, 2)]
    for attempt in range(ATTEMPTS if exchanges else 0):
        first, second = source.choice(exchanges)
        tried = {**programs}
        for code in source.choice(TOGETHER):
            tried[code] = ProgramSchedule(code, timing, _exchanged(programs[code].slots, first, second))
        new = schedule_cost(tried)
        if new <= cost or source.random() < exp((cost - new) / (WARMTH * (1 - attempt / ATTEMPTS))):
            programs, cost = tried, new
        if cost < least:
            cheapest, least = programs, cost
    return Schedule(timing, cheapest)


def schedule_cost(programs: Mapping[OptimizerCode, ProgramSchedule]) -> int:
    """Look-up tables and registers, weighed; only differences of it mean anything."""
    choices: set[tuple[Unit, int, Tap]] = set()
    chains: dict[Chain, set[int]] = {}
    for program in programs.values():
        for (task, port), tap in program.operands.items():
            choices.add((program.slots[task].unit, port, tap))
            if isinstance(tap, Stored):
                chains.setdefault(tap.chain, set()).add(tap.depth)
    fixed = sum(isinstance(tap, Fixed | ConstantWord) for _unit, _port, tap in choices)
    return (
        FIXED_CHOICE * fixed
        + CHOICE * (len(choices) - fixed)
        + sum(chain_cost(depths) for depths in chains.values())
        + CLOCK * sum(program.latency for program in programs.values())
    )


def _slots(kind: Kind, timing: Timing) -> list[Slot]:
    """All slots of a kind of unit. The gradient is widened when it arrives."""
    phases = range(1) if kind is Kind.WIDEN else range(timing.interval)
    return [Slot(Unit(kind, index), phase) for phase in phases for index in range(timing.units[kind])]


def _earliest(code: OptimizerCode, timing: Timing) -> dict[Task, Slot]:
    """Each task in turn takes the slot that lets it begin first."""
    taken: dict[Task, Slot] = {}
    free = {kind: _slots(kind, timing) for kind in Kind}
    shown: dict[Task, int] = {}
    for task in tasks_of(code):
        ready = max([1, *(shown[operand] for operand in task.operands if isinstance(operand, Task))])
        waits = {slot: (slot.phase - ready) % timing.interval for slot in free[task.kind]}
        slot = min(waits, key=lambda slot, waits=waits: waits[slot])
        free[task.kind].remove(slot)
        taken[task] = slot
        begin = 0 if task.kind is Kind.WIDEN else ready + waits[slot]
        shown[task] = begin + timing.latency(task.kind)
    return taken


def _exchanged(slots: Slots, first: Slot, second: Slot) -> dict[Task, Slot]:
    """`slots` with the contents of two exchanged."""
    other = {first: second, second: first}
    return {task: other.get(slot, slot) for task, slot in slots.items()}
