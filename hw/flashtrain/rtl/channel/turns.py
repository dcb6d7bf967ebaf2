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
    has begun and begins no more, unless it has begun less than its run since its turn started and wants to go
    on. Only a unit that may begin no more loses its turn.

    Latency: 3 clocks until a unit that wants the die has its turn if no other wants it; 1 from the end of a
    turn to the next one, 2 if the unit wants no more. Unit 0 has the first turn.

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
        requests = Signal(len(self.runs))  # of those whose turn it is not; a clock late, as `leave` is
        others = Signal()
        leave = Signal()  # the unit begins no more; a clock late, to keep the way to the units short
        busy, run_over, wants_more = Signal(), Signal(), Signal()  # the unit
        moves = Signal()
        started, starters = Signal(), Signal(len(self.runs))  # a clock late, too
        m.d.comb += [
            rotation.requests.eq(requests),
            others.eq(requests.any()),
            started.eq(starters.any()),
            self.turn.eq(turn),
            busy.eq((turn & Cat(unit.busy for unit in self.units)).any()),
            wants_more.eq((turn & Cat(unit.wants for unit in self.units)).any()),
            run_over.eq((turn & Cat(begun >= run for run in self.runs)).any()),
            moves.eq(others & leave & ~busy),
            rotation.advance.eq(moves),
        ]
        m.d.sync += [
            requests.eq(Cat(unit.wants for unit in self.units) & ~turn),
            leave.eq(others & (run_over | ~(busy | wants_more))),
            starters.eq(turn & Cat(unit.started for unit in self.units)),
        ]
        for number, unit in enumerate(self.units):
            m.d.comb += unit.go.eq(turn[number] & ~leave)
        with m.If(moves):
            m.d.sync += [turn.eq(rotation.chosen), begun.eq(0), leave.eq(0)]
        with m.Elif(started & (begun != max(self.runs))):
            m.d.sync += begun.eq(begun + 1)
        return m
