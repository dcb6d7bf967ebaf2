"""Slots in the order of their age."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for


class AgeOrder(wiring.Component):
    """A list of `count` numbers, each in it once; any of them can be made the youngest.

    Combinational in `position`; the list changes in the clock after `renew`.

    Members
    -------
    position : In(range(count))   0 is the oldest
    slot : Out(range(count))      the number that stands there
    renew : In(1)                 make it the youngest; those behind it move up
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({"position": In(range(count)), "slot": Out(range(count)), "renew": In(1)})

    def elaborate(self, platform):
        m = Module()
        slots = Signal(data.ArrayLayout(bits_for(self.count), self.count), init=list(range(self.count)))
        m.d.comb += self.slot.eq(slots[self.position])
        with m.If(self.renew):
            for index in range(self.count - 1):
                with m.If(self.position <= index):
                    m.d.sync += slots[index].eq(slots[index + 1])
            m.d.sync += slots[self.count - 1].eq(self.slot)
        return m
