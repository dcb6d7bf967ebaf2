"""When a die that does not become ready is given up."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Patience(wiring.Component):
    """Counts how often in a row a die has been found busy after its time.

    Latency: `over` is in the clock of the try.

    Members
    -------
    tried : In(1)      pulse: found busy
    rewarded : In(1)   pulse: found ready
    over : Out(1)      pulse, with the last of `tries` and each further one

    Parameters
    ----------
    tries : 2 and more
    """

    def __init__(self, tries: int):
        self.tries = tries
        super().__init__({"tried": In(1), "rewarded": In(1), "over": Out(1)})

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(self.tries), init=self.tries - 1)
        last = Signal()  # no try is left after this
        m.d.comb += self.over.eq(self.tried & last)
        with m.If(self.rewarded):
            m.d.sync += [left.eq(self.tries - 1), last.eq(0)]
        with m.Elif(self.tried & ~last):
            m.d.sync += [left.eq(left - 1), last.eq(left == 1)]
        return m
