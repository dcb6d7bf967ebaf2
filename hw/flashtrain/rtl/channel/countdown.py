"""How long ago something was."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Countdown(wiring.Component):
    """Runs for `clocks` clocks after the last one in which it was held.

    A unit of its own, as it changes each clock while who uses it waits.

    Members
    -------
    held : In(1)
    running : Out(1)   from the clock after the first one on
    """

    def __init__(self, clocks: int):
        self.clocks = clocks
        super().__init__({"held": In(1), "running": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.clocks + 1))
        with m.If(self.held):
            m.d.sync += [left.eq(self.clocks), self.running.eq(self.clocks != 0)]
        with m.Elif(self.running):
            m.d.sync += [left.eq(left - 1), self.running.eq(left != 1)]
        return m
