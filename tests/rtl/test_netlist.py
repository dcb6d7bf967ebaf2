"""The search for output ports that no hardware reads."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.rtl.netlist import outputs


class Inner(wiring.Component):
    """Inverts, and counts what nobody reads."""

    value: In(1)
    inverse: Out(1)
    count: Out(4)
    doubled: Out(4)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.inverse.eq(~self.value), self.doubled.eq(self.count + self.count)]
        m.d.sync += self.count.eq(self.count + self.value)
        return m


class Outer(wiring.Component):
    """`doubled` reaches a register of the top, and no pin."""

    value: In(1)
    result: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = Inner()
        seen = Signal(4)
        m.d.sync += seen.eq(seen ^ inner.doubled)
        m.d.comb += [inner.value.eq(self.value), self.result.eq(inner.inverse)]
        return m


def test_an_unread_output_is_found():
    assert outputs(Outer()) == {
        ("Inner", "inverse"): True,
        ("Inner", "count"): False,
        ("Inner", "doubled"): False,
    }
