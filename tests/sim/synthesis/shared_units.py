"""A design with a unit that it has twice, as one module."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.shared import SharedModule


class Unit(wiring.Component):
    """Adds 1 to a number, a cycle later."""

    a: In(32)
    q: Out(32)

    def elaborate(self, platform):
        m = Module()
        total = Signal(32)
        m.d.sync += total.eq(self.a + 1)
        m.d.comb += self.q.eq(total)
        return m


class TwoUnits(wiring.Component):
    """A number plus 1, inverted, in a register, plus 1."""

    a: In(32)
    q: Out(32)

    def elaborate(self, platform):
        m = Module()
        unit, between = Unit(), Signal(32)
        m.submodules.first = first = SharedModule(unit, "unit")
        m.submodules.second = second = SharedModule(unit, "unit")
        m.d.sync += between.eq(~first.q)
        m.d.comb += [first.a.eq(self.a), second.a.eq(between), self.q.eq(second.q)]
        return m
