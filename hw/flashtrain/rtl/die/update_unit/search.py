"""Finds a schedule that needs few registers and small choices of operands.

An assignment is a schedule if each task has a slot of its own, of a unit that can do it. The times follow
from slots and operands. The search begins with the earliest slots, exchanges the contents of two slots at a
time, and ends with the cheapest schedule found. In the beginning it also continues from slightly more
expensive schedules (simulated annealing). Its random numbers have a fixed seed: the same timing always has
the same schedule.
"""

import random
from functools import cache
from itertools import combinations
from math import exp

from flashtrain.spec.optimizer import OptimizerCode

from .estimate import Estimator, Places
from .schedule import ProgramSchedule, Schedule, Slot, Timing, Unit
from .tasks import ABLE, CODES, SQUARES, Kind, Task, tasks_of

ATTEMPTS = 30_000
"""Three times as many find nothing much better."""
WARMTH = 10
"""How much dearer an attempt may be in the beginning, roughly."""

_SGD, MOMENTUM, NESTEROV, _LINEAR, ADAM, ADAMW, ADAM_FAST, ADAMW_FAST, SGDW, _LION, _FREE = CODES
TOGETHER = (
    *((code,) for code in CODES),
    (SGDW, ADAMW, ADAMW_FAST),
    (MOMENTUM, NESTEROV),
    (ADAM, ADAM_FAST),
    (ADAMW, ADAMW_FAST),
    (ADAM, ADAMW, ADAM_FAST, ADAMW_FAST),
    CODES,
)
"""Programs that are alike enough to be changed at once."""


@cache
def find_schedule(timing: Timing) -> Schedule:
    """A schedule of all programs."""
    slots = _all_slots(timing)
    estimator = Estimator(timing, slots)
    begin = {code: _earliest(code, timing) for code in CODES}
    # The squares keep their slot, the same in all programs: they are counted at one place and time.
    fixed = {slot for task, slot in begin[ADAM].items() if task.name == SQUARES}
    exchanges = [
        (slots.index(first), slots.index(second))
        for first, second in combinations(slots, 2)
        if _share(first.unit.kind, second.unit.kind) and not {first, second} & fixed
    ]

    places = {code: tuple(slots.index(slot) for slot in begin[code].values()) for code in CODES}
    footprints = {code: estimator.footprint(code, places[code]) for code in CODES}
    cost = estimator.cost(footprints.values())
    cheapest, least = places, cost
    source = random.Random(0)
    for attempt in range(ATTEMPTS if exchanges else 0):
        first, second = source.choice(exchanges)
        moved = {code: _exchanged(places[code], first, second) for code in source.choice(TOGETHER)}
        if not all(estimator.possible(code, moved[code]) for code in moved):
            continue
        tried = footprints | {code: estimator.footprint(code, moved[code]) for code in moved}
        new = estimator.cost(tried.values())
        if new <= cost or source.random() < exp((cost - new) / (WARMTH * (1 - attempt / ATTEMPTS))):
            places, footprints, cost = places | moved, tried, new
        if cost < least:
            cheapest, least = places, cost
    programs = {}
    for code in CODES:
        found = dict(zip(tasks_of(code), (slots[place] for place in cheapest[code]), strict=True))
        programs[code] = ProgramSchedule(code, timing, found)
    return Schedule(timing, programs)


def schedule_cost(schedule: Schedule) -> int:
    """The cost that the search minimises."""
    slots = _all_slots(schedule.timing)
    estimator = Estimator(schedule.timing, slots)
    return estimator.cost(
        estimator.footprint(code, tuple(slots.index(program.slots[task]) for task in tasks_of(code)))
        for code, program in schedule.programs.items()
    )


def _all_slots(timing: Timing) -> list[Slot]:
    return [slot for kind in Kind for slot in _slots(kind, timing)]


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
        kind = next(kind for kind in ABLE[task.kind] if free[kind])
        waits = {slot: (slot.phase - ready) % timing.interval for slot in free[kind]}
        slot = min(waits, key=lambda slot, waits=waits: waits[slot])
        free[kind].remove(slot)
        taken[task] = slot
        begin = 0 if task.kind is Kind.WIDEN else ready + waits[slot]
        shown[task] = begin + timing.latency(kind)
    return taken


def _share(first: Kind, second: Kind) -> bool:
    """Whether there are tasks that units of both kinds can do."""
    return first in ABLE[second] or second in ABLE[first]


def _exchanged(places: Places, first: int, second: int) -> Places:
    """`places` with the contents of two exchanged."""
    return tuple(second if place == first else first if place == second else place for place in places)
