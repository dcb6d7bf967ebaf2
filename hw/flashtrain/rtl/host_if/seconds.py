"""The divider of the clock to seconds."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out


class Seconds(wiring.Component):
    """Pulses once per second, the first time a second after the reset.

    Members
    -------
    second : Out(1)

    Parameters
    ----------
    cycles : the length of a second
    """

    def __init__(self, cycles: int):
        self.cycles = cycles
        super().__init__({"second": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.cycles), init=self.cycles - 1)
        m.d.sync += [left.eq(left - 1), self.second.eq(left == 0)]
        with m.If(left == 0):
            m.d.sync += left.eq(self.cycles - 1)
        return m
