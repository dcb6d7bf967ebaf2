"""When a second is over."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out


class Seconds(wiring.Component):
    """Pulses once in so many clocks, the first time so many clocks after the reset.

    Members
    -------
    second : Out(1)
    """

    def __init__(self, clocks: int):
        self.clocks = clocks
        super().__init__({"second": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.clocks), init=self.clocks - 1)
        m.d.sync += [left.eq(left - 1), self.second.eq(left == 0)]
        with m.If(left == 0):
            m.d.sync += left.eq(self.clocks - 1)
        return m
