"""Timers."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class TimerPort(wiring.Signature):
    """A timer as its user sees it.

    Members
    -------
    start : Out(1)     restart the timer
    cycles : Out       the time from then on, 1 or more
    running : In(1)    from the cycle after `start` on, for as many cycles
    """

    def __init__(self, bits: int):
        super().__init__({"start": Out(1), "cycles": Out(bits), "running": In(1)})


class Timer(wiring.Component):
    """Counts down from a time that is given at its start.

    The counter runs a cycle behind `running`: the time may be decided late in the cycle of `start`.

    Latency: `running` is high from the cycle after `start` on.

    Members
    -------
    port : In(TimerPort)
    """

    def __init__(self, bits: int):
        self.bits = bits
        super().__init__({"port": In(TimerPort(bits))})

    def elaborate(self, platform):
        m = Module()
        started, cycles = Signal(), Signal(self.bits)
        left, after_this = Signal(self.bits), Signal(self.bits)
        m.d.comb += left.eq(Mux(started, cycles, after_this))
        m.d.sync += [started.eq(self.port.start), cycles.eq(self.port.cycles)]
        with m.If(self.port.running):
            m.d.sync += after_this.eq(left - 1)
        m.d.sync += self.port.running.eq(self.port.start | self.port.running & (left != 1))
        return m


class HoldTimer(wiring.Component):
    """Runs for a fixed time after the last cycle in which it is held.

    Latency: `running` is high from the cycle after the first with `held` on.

    Members
    -------
    held : In(1)
    running : Out(1)

    Parameters
    ----------
    cycles : the time, 0 or more
    """

    def __init__(self, cycles: int):
        self.cycles = cycles
        super().__init__({"held": In(1), "running": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.cycles + 1))
        with m.If(self.held):
            m.d.sync += [left.eq(self.cycles), self.running.eq(self.cycles != 0)]
        with m.Elif(self.running):
            m.d.sync += [left.eq(left - 1), self.running.eq(left != 1)]
        return m
