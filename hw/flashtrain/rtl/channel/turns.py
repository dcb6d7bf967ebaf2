"""Who of a die agent's units has the die."""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..arbiter import RoundRobin
from .die_unit import TurnPort


class Turns(wiring.Component):
    """Gives the die to one unit at a time, in rotation.

    The unit whose turn it is goes on as long as no other wants the die. When one does, it finishes what it
    has begun and begins no more, unless it has begun less than its run since its turn started.

    Latency: 2 clocks until a unit that wants the die has its turn, 1 from the end of one turn to the next.
    Unit 0 has the first turn.

    Members
    -------
    units : In(TurnPort).array
    turn : Out   one-hot: whose turn it is

    Parameters
    ----------
    runs : for each unit, the page sets (or erases) of one turn while others wait
    """

    def __init__(self, runs: Sequence[int]):
        self.runs = tuple(runs)
        super().__init__({
            "units": In(TurnPort()).array(len(runs)),
            "turn": Out(len(runs)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.rotation = rotation = RoundRobin(len(self.runs))
        turn = Signal(len(self.runs), init=1)
        begun = Signal(range(max(self.runs) + 1))
        wants = Signal(len(self.runs))  # a clock late, as `leave` is
        others = Signal()
        leave = Signal()  # the unit begins no more; a clock late, to keep the way to the units short
        busy = Signal()
        started = Signal()  # a clock late, too
        m.d.comb += [
            rotation.requests.eq(wants & ~turn),
            others.eq(rotation.requests.any()),
            self.turn.eq(turn),
        ]
        m.d.sync += wants.eq(Cat(unit.wants for unit in self.units))
        with m.Switch(turn):
            for number, (unit, run) in enumerate(zip(self.units, self.runs, strict=True)):
                with m.Case(1 << number):
                    m.d.sync += leave.eq(others & (begun >= run))
                    m.d.comb += [
                        unit.go.eq(~leave),
                        busy.eq(unit.busy | (unit.wants & ~leave)),
                    ]
                    m.d.sync += started.eq(unit.started)
        with m.If(others & ~busy):
            m.d.comb += rotation.advance.eq(1)
            m.d.sync += [turn.eq(rotation.chosen), begun.eq(0), leave.eq(0)]
        with m.Elif(started & (begun != max(self.runs))):
            m.d.sync += begun.eq(begun + 1)
        return m
