"""The static schedule: the unit and the time of each task of each program, found before elaboration.

A parameter enters every `interval` cycles. Its tasks have fixed times, counted from the cycle in which it
enters. A unit is therefore busy with a task at time t in the *phase* t mod `interval`, for every parameter.
No other task of the same program may have that phase of that unit.

Programs do not run at the same time, so they may use the same phases. A unit with fewer different operands
has a smaller choice in front of it.

    schedule = find_schedule(Timing(interval=5, widen=1, multiply_add=9, multiply=8, add=7, divide=33,
                                    root=33, sign=2, narrow=1))
    schedule.programs[OptimizerCode.ADAM].latency
    schedule.taps(Unit(Kind.MULTIPLY_ADD, 0), port=2)   # the sources of the addend, and when
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product

from flashtrain.spec.errors import require
from flashtrain.spec.optimizer import PARTIAL_SUMS, Input, OptimizerCode

from .tasks import (
    CODES,
    SQUARES,
    ConstantWord,
    Fixed,
    Kind,
    Task,
    TaskOperand,
    count_tasks,
    most_tasks,
    tasks_of,
)

PORTS = {
    Kind.WIDEN: 1,
    Kind.MULTIPLY_ADD: 3,
    Kind.MULTIPLY: 2,
    Kind.ADD: 2,
    Kind.DIVIDE: 2,
    Kind.ROOT: 1,
    Kind.SIGN: 1,
    Kind.NARROW: 1,
    Kind.OUTPUT: 4,
}
"""Operands by kind of unit."""

MULTIPLY_ADD_COST, MULTIPLY_COST, ADD_COST = 927, 423, 476
"""Of a unit, in look-up tables."""


@dataclass(frozen=True)
class Timing:
    """Cycles from one parameter to the next, and from operands to result by kind of unit: 1 or more, all."""

    interval: int
    widen: int
    multiply_add: int
    multiply: int
    add: int
    divide: int
    root: int
    sign: int
    narrow: int

    def __post_init__(self) -> None:
        for name, cycles in asdict(self).items():
            require(cycles >= 1, f"timing.{name}", cycles, "1 or more")
        # A sum must be back before its next gradient needs it.
        longest = PARTIAL_SUMS * self.interval - 1
        require(self.multiply_add <= longest, f"timing.multiply_add at interval {self.interval}",
                self.multiply_add, f"at most {longest}, since there are {PARTIAL_SUMS} sums")  # fmt: skip

    def latency(self, kind: Kind) -> int:
        """Cycles from operands to result."""
        return {
            Kind.WIDEN: self.widen,
            Kind.MULTIPLY_ADD: self.multiply_add,
            Kind.MULTIPLY: self.multiply,
            Kind.ADD: self.add,
            Kind.DIVIDE: self.divide,
            Kind.ROOT: self.root,
            Kind.SIGN: self.sign,
            Kind.NARROW: self.narrow,
            Kind.OUTPUT: 1,
        }[kind]

    @cached_property
    def units(self) -> dict[Kind, int]:
        """The least number of units of each kind that do the work of every program.

        A unit for products or sums costs half as much as one that fuses both and can do the work of either.
        The result is the cheapest mixture.
        """
        least = {kind: -(-most_tasks(kind) // self.interval) for kind in Kind}
        mixtures = product(range(least[Kind.MULTIPLY] + 1), range(least[Kind.ADD] + 1))
        _cost, fused, multiply, add = min(
            (fused * MULTIPLY_ADD_COST + multiply * MULTIPLY_COST + add * ADD_COST, fused, multiply, add)
            for multiply, add in mixtures
            for fused in (self._fused(multiply, add),)
        )
        return least | {Kind.MULTIPLY_ADD: fused, Kind.MULTIPLY: multiply, Kind.ADD: add}

    def _fused(self, multiply: int, add: int) -> int:
        """How many units that fuse are needed beside these."""
        tasks = max(
            count_tasks(code, Kind.MULTIPLY_ADD)
            + max(0, count_tasks(code, Kind.MULTIPLY) - multiply * self.interval)
            + max(0, count_tasks(code, Kind.ADD) - add * self.interval)
            for code in CODES
        )
        return -(-tasks // self.interval)


@dataclass(frozen=True)
class Unit:
    """One of the units of a kind."""

    kind: Kind
    index: int = 0


@dataclass(frozen=True)
class Slot:
    """A place for a task of each program."""

    unit: Unit
    phase: int


@dataclass(frozen=True)
class Chain:
    """Registers that take what `source` shows in `phase`, and hand it on to each other an interval later."""

    source: Unit | Input
    phase: int


@dataclass(frozen=True)
class Stored:
    """The register number `depth` of a chain, counted from 1."""

    chain: Chain
    depth: int


Tap = Unit | Input | Stored | ConstantWord | Fixed
"""Where an operand comes from. A unit, or an input, is the value that it shows in this cycle."""

Slots = Mapping[Task, Slot]
"""The places of the tasks of one program."""


@dataclass(frozen=True)
class ProgramSchedule:
    """One program: the places of its tasks, and what follows from them."""

    code: OptimizerCode
    timing: Timing
    slots: Slots

    @cached_property
    def times(self) -> dict[Task, int]:
        """When each task takes its operands: as soon as they are there and it is its phase."""
        times: dict[Task, int] = {}
        for task in tasks_of(self.code):
            if task.kind is Kind.WIDEN:
                times[task] = 0
                continue
            # From the clock behind the one in which the parameter enters.
            ready = max(1, *(self._ready(times, operand) for operand in task.operands))
            times[task] = ready + (self.slots[task].phase - ready) % self.timing.interval
        return times

    def _ready(self, times: Mapping[Task, int], operand: TaskOperand | None) -> int:
        if not isinstance(operand, Task):
            return 0
        return times[operand] + self.timing.latency(self.slots[operand].unit.kind)

    @property
    def latency(self) -> int:
        """Cycles from the one in which a parameter enters to the one that shows its results."""
        return self.times[tasks_of(self.code)[-1]] + 1

    @cached_property
    def operands(self) -> dict[tuple[Task, int], Tap]:
        """Where each task's operands come from, by task and port."""
        return {
            (task, port): self._tap(operand, self.times[task])
            for task in tasks_of(self.code)
            for port, operand in enumerate(task.operands_on(self.slots[task].unit.kind))
            if operand is not None
        }

    def _tap(self, operand: TaskOperand, time: int) -> Tap:
        if isinstance(operand, ConstantWord | Fixed):
            return operand
        shown = self._ready(self.times, operand)
        source = self.slots[operand].unit if isinstance(operand, Task) else operand
        if time == shown:
            return source
        interval = self.timing.interval
        return Stored(Chain(source, shown % interval), -(-(time - shown) // interval))


@dataclass(frozen=True)
class Schedule:
    """All programs on the same units."""

    timing: Timing
    programs: Mapping[OptimizerCode, ProgramSchedule]

    def tasks(self, unit: Unit) -> Iterator[tuple[ProgramSchedule, Task]]:
        """All tasks of a unit, with the program of each."""
        for program in self.programs.values():
            for task, slot in program.slots.items():
                if slot.unit == unit:
                    yield program, task

    def taps(self, unit: Unit, port: int) -> dict[Tap, list[tuple[OptimizerCode, int]]]:
        """The sources of an operand of a unit, and the programs and phases of each."""
        choices: dict[Tap, list[tuple[OptimizerCode, int]]] = {}
        for program, task in self.tasks(unit):
            tap = program.operands.get((task, port))
            if tap is not None:
                choices.setdefault(tap, []).append((program.code, program.slots[task].phase))
        return choices

    @property
    def squares(self) -> tuple[Slot, int]:
        """Where and when a partial sum is an operand: the same in all programs."""
        places = {
            (program.slots[task], program.times[task])
            for program in self.programs.values()
            for task in program.slots
            if task.name == SQUARES
        }
        require(len(places) == 1, "places of the squares", places, "one for all programs")
        return places.pop()

    @property
    def chains(self) -> dict[Chain, list[int]]:
        """The chains of registers, and which of their registers are operands of something, in order."""
        depths: dict[Chain, set[int]] = {}
        for program in self.programs.values():
            for tap in program.operands.values():
                if isinstance(tap, Stored):
                    depths.setdefault(tap.chain, set()).add(tap.depth)
        return {chain: sorted(used) for chain, used in depths.items()}
