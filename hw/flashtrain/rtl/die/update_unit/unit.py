# amaranth: UnusedElaboratable=no
# (Float units are built to ask them for their latency, also where nobody elaborates the whole.)
"""The update unit: one optimizer step for a stream of parameters, on a few shared float units."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.add import Add
from flashtrain.rtl.float.divide_root import DivideRoot
from flashtrain.rtl.float.multiply import Multiply
from flashtrain.rtl.float.multiply_add import MultiplyAdd
from flashtrain.rtl.float.recurrence import DIGITS
from flashtrain.rtl.float.sign import Sign
from flashtrain.spec.optimizer import (
    CONSTANT_WORDS,
    PARTIAL_SUMS,
    CopyFormat,
    GradientFormat,
    Input,
    OptimizerCode,
)

from .choice import OperandChoice
from .conversions import NarrowWeight, WidenGradient
from .delay import DelayChain
from .schedule import PORTS, Stored, Tap, Timing, Unit
from .search import find_schedule
from .statistics import GradientCounts, PartialSums
from .tasks import ConstantWord, Fixed, Kind, most_tasks

_OPERAND_REGISTER = 1
_MULTIPLY_ADD_STAGES = 13


class UpdateUnit(wiring.Component):
    """Runs any of the optimizers' micro-programs for a parameter every `interval` cycles.

    The operations of a parameter have a static schedule, found when the unit is built (`schedule`,
    `search`). The float units, chains of registers for later operands, and a choice in front of each operand
    follow it::

        w m v gradient ──▶ chains ──┬──▶ choice ─▶ multiply-add × n ──┬──▶ chains ──▶ choice ──▶ w m v copy
                            ▲       ├──▶ choice ─▶ multiply × n     ──┤
                            │       ├──▶ choice ─▶ add × n          ──┤
                            │       ├──▶ choice ─▶ divide           ──┤
                            │       ├──▶ choice ─▶ root             ──┤
                            │       ├──▶ choice ─▶ sign             ──┤
                            └───────┴─────────────────────────────────┘

    The unit never stalls: results follow the operands after a fixed number of cycles. Results and statistics
    equal `flashtrain.training.optimizers.update` and `statistics` in every bit.

    Members
    -------
    enable : In(1)    all of the unit holds while it is low, but for `clear` and `restart`
    clear : In(1)     at once: clears the statistics and discards all parameters in the unit
    restart : In(1)   at once, while not `busy`: the next gradient counts in the first partial sum

    code : In(OptimizerCode), gradient_format : In(GradientFormat), copy_format : In(CopyFormat),
    constants : In(ArrayLayout(32, 8))   stable while `busy` and while operands are offered

    ready : Out(1)    high in one cycle of `interval`: operands are taken then, if `valid`
    valid : In(1)
    w, m, v : In(32)  `m` and `v` do not matter for programs without them
    gradient : In(32) 16-bit formats in the lower half

    done : Out(1)     the results of a parameter are here, in this cycle only
    new_w, new_m, new_v : Out(32)   of no meaning where the program has none
    copy : Out(16)    of no meaning without a format

    busy : Out(1)     results or statistics of a parameter are not complete
    nans, infinities, largest : Out(32)   statistics, complete when not `busy`
    index : In(3), square : Out(32)       partial sum of squares `index`, while not `busy`

    Parameters
    ----------
    interval : int   cycles per parameter
    multiply_add_stages, multiply_stages, add_stages, divide_stages, widen_stages, narrow_stages : int
        Depths of the float units; by default for the highest clock in an FPGA. Less is smaller and slower.
        A multiply-add has 6 at an interval of 1, since a sum of squares is back before its next turn.
    digits_per_cycle : int
        Of a quotient or root. There are as many recurrences as the interval asks for.

    Attributes
    ----------
    schedule : Schedule
    latency : dict of int by OptimizerCode   cycles from operands to results
    """

    def __init__(
        self,
        interval: int = 5,
        multiply_add_stages: int | None = None,
        multiply_stages: int = 10,
        add_stages: int = 11,
        divide_stages: int = 8,
        digits_per_cycle: int = 1,
        widen_stages: int = 3,
        narrow_stages: int = 5,
    ):
        self.interval = interval
        # A partial sum comes back before its next turn.
        most = PARTIAL_SUMS * interval - 1 - _OPERAND_REGISTER
        self.multiply_add_stages = multiply_add_stages or min(_MULTIPLY_ADD_STAGES, most)
        self.multiply_stages = multiply_stages
        self.add_stages = add_stages
        self.divide_stages = divide_stages
        self.digits_per_cycle = digits_per_cycle
        self.widen_stages = widen_stages
        self.narrow_stages = narrow_stages
        first = {kind: self._make(kind) for kind in Kind if kind is not Kind.OUTPUT}
        latencies = {kind: unit.latency for kind, unit in first.items()}
        self.schedule = find_schedule(
            Timing(
                interval,
                widen=latencies[Kind.WIDEN],
                multiply_add=_OPERAND_REGISTER + latencies[Kind.MULTIPLY_ADD],
                multiply=_OPERAND_REGISTER + latencies[Kind.MULTIPLY],
                add=_OPERAND_REGISTER + latencies[Kind.ADD],
                divide=_OPERAND_REGISTER + latencies[Kind.DIVIDE],
                root=_OPERAND_REGISTER + latencies[Kind.ROOT],
                sign=_OPERAND_REGISTER + latencies[Kind.SIGN],
                narrow=_OPERAND_REGISTER + latencies[Kind.NARROW],
            )
        )
        self._units = {
            Unit(kind, index): unit if index == 0 else self._make(kind)
            for kind, unit in first.items()
            for index in range(self.schedule.timing.units[kind])
        }
        super().__init__(
            {
                "enable": In(1),
                "clear": In(1),
                "restart": In(1),
                "code": In(OptimizerCode),
                "gradient_format": In(GradientFormat),
                "copy_format": In(CopyFormat),
                "constants": In(data.ArrayLayout(32, CONSTANT_WORDS)),
                "ready": Out(1),
                "valid": In(1),
                **{name: In(32) for name in ("w", "m", "v", "gradient")},
                "done": Out(1),
                **{name: Out(32) for name in ("new_w", "new_m", "new_v")},
                "copy": Out(16),
                "busy": Out(1),
                **{name: Out(32) for name in ("nans", "infinities", "largest")},
                "index": In(range(PARTIAL_SUMS)),
                "square": Out(32),
            }
        )

    @property
    def latency(self) -> dict[OptimizerCode, int]:
        return {code: program.latency for code, program in self.schedule.programs.items()}

    def _make(self, kind: Kind):
        match kind:
            case Kind.WIDEN:
                return WidenGradient(self.widen_stages)
            case Kind.MULTIPLY_ADD:
                return MultiplyAdd(self.multiply_add_stages)
            case Kind.MULTIPLY:
                return Multiply(self.multiply_stages)
            case Kind.ADD:
                return Add(self.add_stages)
            case Kind.DIVIDE | Kind.ROOT:
                cycles = 1 + -(-DIGITS // self.digits_per_cycle)
                recurrences = min(most_tasks(kind), self.interval) * -(-cycles // self.interval)
                return DivideRoot(self.digits_per_cycle, recurrences, self.divide_stages)
            case Kind.SIGN:
                return Sign()
            case Kind.NARROW:
                return NarrowWeight(self.narrow_stages)
        raise ValueError(f"{kind} is no unit with a latency")

    def elaborate(self, platform):
        m = Module()
        self._phases(m)
        shown: dict[Tap, Value] = {
            Input.W: self.w,
            Input.M: self.m,
            Input.V: self.v,
            Input.G: self.gradient,
            Fixed.ONE: Const(0x3F80_0000, 32),
            Fixed.MINUS_ZERO: Const(0x8000_0000, 32),
            **{ConstantWord(index): self.constants[index] for index in range(CONSTANT_WORDS)},
        }
        for name, unit in self._units.items():
            m.submodules[_name(name)] = unit
            m.d.comb += unit.enable.eq(self.enable)
            shown[name] = unit.result
        self._statistics(m, shown)
        self._chains(m, shown)
        for name, unit in self._units.items():
            self._feed(m, name, unit, shown)
        self._results(m, shown)
        return m

    def _phases(self, m: Module):
        """The phase, and which of the last parameters are there at all."""
        self._phase = Signal(self.interval, init=1)
        self._next_phase = Cat(self._phase[-1], self._phase[:-1])
        last = max(
            self.schedule.squares[1] + self.schedule.timing.multiply_add,
            *(program.latency for program in self.schedule.programs.values()),
        )
        self._on_the_way = Signal(-(-last // self.interval))
        m.d.comb += [self.ready.eq(self._phase[0]), self.busy.eq(self._on_the_way.any())]
        with m.If(self.enable):
            m.d.sync += self._phase.eq(self._next_phase)
            with m.If(self._phase[0]):
                m.d.sync += self._on_the_way.eq(Cat(self.valid, self._on_the_way))
        with m.If(self.clear):
            m.d.sync += self._on_the_way.eq(0)

    def _at(self, time: int) -> Value:
        """A parameter is `time` cycles behind the one in which it entered; 1 or more."""
        return self._on_the_way[(time - 1) // self.interval] & self._phase[time % self.interval]

    def _at_times(self, times: Iterable[tuple[OptimizerCode, int]]) -> Value:
        """The same, with times for each program."""
        codes: dict[int, list[OptimizerCode]] = {}
        for code, time in times:
            codes.setdefault(time, []).append(code)
        return reduce(
            or_,
            (self._at(time) & Cat(self.code == code for code in same).any() for time, same in codes.items()),
        )

    def _times(self, name: Unit) -> list[tuple[OptimizerCode, int]]:
        """When a unit takes operands, by program."""
        return [(program.code, program.times[task]) for program, task in self.schedule.tasks(name)]

    def _statistics(self, m: Module, shown: dict[Tap, Value]):
        m.submodules.counts = counts = GradientCounts()
        m.submodules.sums = sums = PartialSums()
        slot, time = self.schedule.squares
        take = self.enable & self._at(time)
        m.d.comb += [
            *(counts.enable.eq(self.enable), counts.clear.eq(self.clear)),
            sums.restart.eq(self.restart),
            *(counts.count.eq(take), counts.gradient.eq(shown[Unit(Kind.WIDEN)])),
            *(self.nans.eq(counts.nans), self.infinities.eq(counts.infinities)),
            self.largest.eq(counts.largest),
            *(sums.clear.eq(self.clear), sums.take.eq(take)),
            sums.bring.eq(self.enable & self._at(time + self.schedule.timing.multiply_add)),
            sums.brought.eq(shown[slot.unit]),
            *(sums.index.eq(self.index), self.square.eq(sums.sum)),
        ]
        shown[Fixed.SUM] = sums.next

    def _chains(self, m: Module, shown: dict[Tap, Value]):
        for chain, depths in self.schedule.chains.items():
            value = shown[chain.source]
            delay = DelayChain(len(value), depths)
            m.submodules[f"{_name(chain.source)}_from_{chain.phase}"] = delay
            m.d.comb += [
                delay.value.eq(value),
                delay.step.eq(self.enable & self._phase[chain.phase]),
            ]
            for depth in depths:
                shown[Stored(chain, depth)] = delay.stored(depth)

    def _feed(self, m: Module, name: Unit, unit, shown: dict[Tap, Value]):
        """Connect the operands of a unit, and what else it has to know."""
        if name.kind is Kind.WIDEN:
            m.d.comb += [unit.gradient.eq(self.gradient), unit.format.eq(self.gradient_format)]
            return
        for port, letter in zip(range(PORTS[name.kind]), "abc", strict=False):
            m.d.comb += getattr(unit, letter).eq(self._choose(m, name, port, letter, shown))
        if name.kind is Kind.NARROW:
            m.d.comb += unit.format.eq(self.copy_format)
        if name.kind in (Kind.DIVIDE, Kind.ROOT):
            start = Signal(name=f"{_name(name)}_start")
            with m.If(self.enable):
                m.d.sync += start.eq(self._at_times(self._times(name)))
            m.d.comb += [unit.start.eq(start), unit.root.eq(name.kind is Kind.ROOT)]
        if name.kind is Kind.MULTIPLY_ADD:
            m.d.comb += unit.negate_addend.eq(self._subtraction(m, name))
        if name.kind is Kind.ADD:
            m.d.comb += unit.subtract.eq(self._subtraction(m, name))

    def _choose(self, m: Module, name: Unit, port: int, letter: str, shown: dict[Tap, Value]) -> Value:
        taps = self.schedule.taps(name, port)
        width = max(len(shown[tap]) for tap in taps)
        choice = OperandChoice(width, list(taps.values()), self.interval)
        m.submodules[f"{_name(name)}_{letter}"] = choice
        m.d.comb += self._timed(choice)
        m.d.comb += [value.eq(shown[tap]) for value, tap in zip(choice.values, taps, strict=True)]
        return choice.chosen

    def _subtraction(self, m: Module, name: Unit) -> Value:
        """Whether the unit subtracts its last operand."""
        uses: tuple[list[tuple[OptimizerCode, int]], ...] = ([], [])
        for program, task in self.schedule.tasks(name):
            uses[task.subtract].append((program.code, program.slots[task].phase))
        if not all(uses):
            return Const(bool(uses[True]))
        m.submodules[f"{_name(name)}_subtract"] = choice = OperandChoice(1, uses, self.interval)
        m.d.comb += [*self._timed(choice), choice.values[0].eq(0), choice.values[1].eq(1)]
        return choice.chosen

    def _timed(self, choice: OperandChoice):
        return [
            choice.enable.eq(self.enable),
            choice.code.eq(self.code),
            choice.next_phases.eq(self._next_phase),
        ]

    def _results(self, m: Module, shown: dict[Tap, Value]):
        output = Unit(Kind.OUTPUT)
        for port, result in enumerate((self.new_w, self.new_m, self.new_v, self.copy)):
            m.d.comb += result.eq(self._choose(m, output, port, "wmvc"[port], shown))
        with m.If(self.enable):
            m.d.sync += self.done.eq(self._at_times(self._times(output)))
        with m.If(self.clear):
            m.d.sync += self.done.eq(0)


def _name(source: Unit | Input) -> str:
    """Of a unit or an input, for the names of modules."""
    if isinstance(source, Input):
        return source.name.lower()
    return f"{source.kind.name.lower()}_{source.index}"
