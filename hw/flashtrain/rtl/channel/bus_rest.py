"""The rest of the bus after a die has sent data."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import NandTiming
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for


class BusRest(wiring.Component):
    """Keeps the die that has sent data from its next command for tRHW, and every other for tCHZ.

    Members
    -------
    sent : In(1)     the last beat came `sent_clocks` ago, from `die`
    die : In
    resting : Out(dies)   dies that may not be granted the bus

    Parameters
    ----------
    sent_clocks : clocks from the last beat on the pins to `sent`
    grant_clocks : clocks from a choice of the arbiter to the first cycle on the pins, which the rest may
        overlap
    """

    def __init__(self, timing: NandTiming, dies: int, *, sent_clocks: int, grant_clocks: int):
        self.timing = timing
        self.dies = dies
        self.sent_clocks = sent_clocks
        self.grant_clocks = grant_clocks
        # Only the last die to send is remembered: it must be rested before another can have sent a status.
        require(timing.clocks("trhw") <= timing.clocks("twc") + timing.clocks("twhr"), "timing.trhw",
                timing.trhw, "at most twc and twhr together")  # fmt: skip
        super().__init__({"sent": In(1), "die": In(bits_for(dies)), "resting": Out(dies)})

    def elaborate(self, platform):
        m = Module()
        trhw = self.timing.clocks("trhw")
        turnaround = self.timing.clocks("tchz")
        longest = max(trhw, turnaround)

        # The clocks since the last beat and the one that loads `left` are rest, too.
        start = max(longest - self.sent_clocks - self.grant_clocks - 1, 0)
        left = Signal(range(longest + 1))
        sender = Signal.like(self.die)
        with m.If(self.sent):
            m.d.sync += [left.eq(start), sender.eq(self.die)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)

        # Each die rests for as long as `left` is more than what remains of `longest` after its clocks; what
        # the arbiter sees comes from registers.
        for number in range(self.dies):
            rests = Signal(name=f"rests_{number}")
            with m.If(self.sent):
                own = self.die == number
                m.d.sync += rests.eq(Mux(own, start > longest - trhw, start > longest - turnaround))
            with m.Elif(Mux(sender == number, left == longest - trhw + 1, left == longest - turnaround + 1)):
                m.d.sync += rests.eq(0)
            m.d.comb += self.resting[number].eq(rests)
        return m
