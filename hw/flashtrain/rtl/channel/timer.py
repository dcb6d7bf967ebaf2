"""A timer, and how it is used."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TimerPort(wiring.Signature):
    """A timer as its user sees it.

    Members
    -------
    start : Out(1)     begin anew
    clocks : Out       the time from then on, 0 for none
    running : In(1)    from the clock after `start` on, for as many clocks
    """

    def __init__(self, bits: int):
        super().__init__({"start": Out(1), "clocks": Out(bits), "running": In(1)})


class Timer(wiring.Component):
    """Counts down.

    Members
    -------
    port : In(TimerPort)
    """

    def __init__(self, bits: int):
        self.bits = bits
        super().__init__({"port": In(TimerPort(bits))})

    def elaborate(self, platform):
        m = Module()
        left = Signal(self.bits)
        m.d.comb += self.port.running.eq(left != 0)
        with m.If(self.port.start):
            m.d.sync += left.eq(self.port.clocks)
        with m.Elif(self.port.running):
            m.d.sync += left.eq(left - 1)
        return m
