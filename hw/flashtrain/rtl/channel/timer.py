"""A timer, and how it is used."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TimerPort(wiring.Signature):
    """A timer as its user sees it.

    Members
    -------
    start : Out(1)     begin anew
    clocks : Out       the time from then on, 1 or more
    running : In(1)    from the clock after `start` on, for as many clocks
    """

    def __init__(self, bits: int):
        super().__init__({"start": Out(1), "clocks": Out(bits), "running": In(1)})


class Timer(wiring.Component):
    """Counts down, one clock behind its user, who needs not have decided on the time early in a clock.

    Members
    -------
    port : In(TimerPort)
    """

    def __init__(self, bits: int):
        self.bits = bits
        super().__init__({"port": In(TimerPort(bits))})

    def elaborate(self, platform):
        m = Module()
        started, clocks = Signal(), Signal(self.bits)
        left, after_this = Signal(self.bits), Signal(self.bits)
        m.d.comb += left.eq(Mux(started, clocks, after_this))
        m.d.sync += [started.eq(self.port.start), clocks.eq(self.port.clocks)]
        with m.If(self.port.running):
            m.d.sync += after_this.eq(left - 1)
        m.d.sync += self.port.running.eq(self.port.start | self.port.running & (left != 1))
        return m
