"""The cost of a schedule, computed quickly: the search needs it thousands of times.

Values (inputs, then tasks), places (slots) and sources (inputs, then units) are numbers. Sets are bits of an
integer, so that the union of several programs is an "or".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flashtrain.spec.optimizer import CONSTANT_WORDS, Input, OptimizerCode

from .delay import chain_cost
from .schedule import Slot, Timing
from .tasks import ABLE, ConstantWord, Fixed, Kind, Task, tasks_of

CHOICE = 20
"""Look-up tables for one more operand of 32 bits to choose from."""
FIXED_CHOICE = 10
CLOCK = 2
"""The cost of a cycle of latency: it is a bit of each chain, and idle time at the end of each tile."""

INPUTS = tuple(Input)
CONSTANTS = (*Fixed, *(ConstantWord(index) for index in range(CONSTANT_WORDS)))

Places = tuple[int, ...]
"""The numbers of the slots of a program's tasks, in their order."""


@dataclass(frozen=True)
class Footprint:
    """The needs of one program: operands that units choose from, registers, time."""

    choices: int  # a bit for each
    fixed_choices: int  # the same, of constants
    chains: Mapping[tuple[int, int], int]  # by source and phase: a bit for each register that is read
    latency: int


class _Step:
    """A task in numbers, on a kind of unit."""

    def __init__(self, task: Task, kind: Kind, numbers: Mapping[Task, int]):
        self.widens = task.kind is Kind.WIDEN
        self.values: list[tuple[int, int]] = []  # port, value
        self.fixed: list[tuple[int, int]] = []  # port, constant
        for port, operand in enumerate(task.operands_on(kind)):
            if isinstance(operand, Task):
                self.values.append((port, numbers[operand]))
            elif isinstance(operand, Input):
                self.values.append((port, INPUTS.index(operand)))
            elif operand is not None:
                self.fixed.append((port, CONSTANTS.index(operand)))


class Estimator:
    """Costs of programs whose tasks are at given places among `slots`."""

    def __init__(self, timing: Timing, slots: Sequence[Slot]):
        self._interval = timing.interval
        units = list(dict.fromkeys(slot.unit for slot in slots))
        sources = {unit: len(INPUTS) + number for number, unit in enumerate(units)}
        self._places = [(sources[slot.unit], slot.phase, timing.latency(slot.unit.kind)) for slot in slots]
        self._steps: dict[OptimizerCode, list[dict[int, _Step]]] = {}  # by place
        for code in OptimizerCode:
            numbers = {task: len(INPUTS) + number for number, task in enumerate(tasks_of(code))}
            self._steps[code] = [
                {
                    place: step
                    for kind in ABLE[task.kind]
                    for step in (_Step(task, kind, numbers),)
                    for place, slot in enumerate(slots)
                    if slot.unit.kind is kind
                }
                for task in numbers
            ]
        self._footprints: dict[tuple[OptimizerCode, Places], Footprint] = {}
        self._bits: dict[tuple[object, ...], int] = {}
        self._chain_costs: dict[int, int] = {}

    def possible(self, code: OptimizerCode, places: Places) -> bool:
        """Whether the units are able to do the tasks."""
        return all(place in steps for steps, place in zip(self._steps[code], places, strict=True))

    def footprint(self, code: OptimizerCode, places: Places) -> Footprint:
        """Reckoned once: a search comes back to the same places often."""
        key = (code, places)
        found = self._footprints.get(key)
        if found is None:
            self._footprints[key] = found = self._reckon(code, places)
        return found

    def _reckon(self, code: OptimizerCode, places: Places) -> Footprint:
        """The times follow as in `ProgramSchedule.times`, what is read where as in its `operands`."""
        interval, bits = self._interval, self._bits
        sources, shown = list(range(len(INPUTS))), [0] * len(INPUTS)
        choices = fixed_choices = begin = 0
        chains: dict[tuple[int, int], int] = {}
        for steps, place in zip(self._steps[code], places, strict=True):
            source, phase, latency = self._places[place]
            step = steps[place]
            ready = 1
            for _port, value in step.values:
                if shown[value] > ready:
                    ready = shown[value]
            begin = 0 if step.widens else ready + (phase - ready) % interval
            for port, value in step.values:
                depth = -(-(begin - shown[value]) // interval)
                chain = (sources[value], depth and shown[value] % interval)
                key = (source, port, chain, depth)
                choices |= bits.get(key) or self._new_bit(key)
                if depth:
                    chains[chain] = chains.get(chain, 0) | 1 << depth
            for port, constant in step.fixed:
                key = (source, port, constant)
                fixed_choices |= bits.get(key) or self._new_bit(key)
            sources.append(source)
            shown.append(begin + latency)
        return Footprint(choices, fixed_choices, chains, begin + 1)

    def cost(self, footprints: Iterable[Footprint]) -> int:
        """Look-up tables and registers, weighed; only differences of it mean anything."""
        choices = fixed_choices = latencies = 0
        chains: dict[tuple[int, int], int] = {}
        for footprint in footprints:
            choices |= footprint.choices
            fixed_choices |= footprint.fixed_choices
            latencies += footprint.latency
            for chain, depths in footprint.chains.items():
                chains[chain] = chains.get(chain, 0) | depths
        return (
            FIXED_CHOICE * fixed_choices.bit_count()
            + CHOICE * choices.bit_count()
            + sum(self._chain_costs.get(depths) or self._chain_cost(depths) for depths in chains.values())
            + CLOCK * latencies
        )

    def _new_bit(self, key: tuple[object, ...]) -> int:
        self._bits[key] = bit = 1 << len(self._bits)
        return bit

    def _chain_cost(self, depths: int) -> int:
        read = [depth for depth in range(depths.bit_length()) if depths >> depth & 1]
        self._chain_costs[depths] = cost = chain_cost(read)
        return cost
