"""The operand of a unit: one of a few values, by program and phase."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.optimizer import OptimizerCode

Uses = Sequence[tuple[OptimizerCode, int]]
"""Programs and phases in which a value is the operand."""


class OperandChoice(wiring.Component):
    """Takes one of `values` into a register in every cycle.

    The choice is worked out a cycle ahead, one bit for each value, so that it costs no time.

    Members
    -------
    enable : In(1)
    code : In(OptimizerCode)   stable, from a cycle before the first one that matters
    next_phases : In(interval)   which phase comes next: one bit of them is set
    values : In(width).array(len(uses))
    chosen : Out(width)

    Latency: one cycle.
    """

    def __init__(self, width: int, uses: Sequence[Uses], interval: int):
        self.width = width
        self.uses = uses
        self.interval = interval
        super().__init__(
            {
                "enable": In(1),
                "code": In(OptimizerCode),
                "next_phases": In(interval),
                "values": In(width).array(len(uses)),
                "chosen": Out(width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        if len(self.uses) == 1:
            value = self.values[0]
        else:
            take = Signal(len(self.uses))
            with m.If(self.enable):
                m.d.sync += take.eq(Cat(self._wanted(number) for number in range(len(self.uses))))
            value = reduce(or_, (Mux(take[n], self.values[n], 0) for n in range(len(self.uses))))
        chosen = Signal(self.width, reset_less=True)
        with m.If(self.enable):
            m.d.sync += chosen.eq(value)
        m.d.comb += self.chosen.eq(chosen)
        return m

    def _wanted(self, number: int):
        """Whether a value is the next operand."""
        uses = self.uses[number]
        terms = []
        for phase in range(self.interval):
            codes = [code for code, used in uses if used == phase]
            alone = all(used != phase for other in self.uses if other is not uses for _code, used in other)
            if codes and alone:
                terms.append(self.next_phases[phase])
            elif codes:
                terms.append(self.next_phases[phase] & Cat(self.code == code for code in codes).any())
        return reduce(or_, terms)
