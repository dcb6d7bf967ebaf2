"""Which logical zone to look at next for a stale entry."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class StaleWalk(wiring.Component):
    """A walk round the logical zone table after each stream reset, so that no stale entry stays.

    The walk goes on where it was, and ends when every zone has been looked at since the last reset. So that
    a generation never comes round to an old entry there is at least one step per command.

    Members
    -------
    start : In(1)         a stream was reset
    step : In(1)          `zone` has been looked at; not in the clock of `start`
    zone : Out(zone_bits)
    pending : Out(1)      there are zones to look at
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "start": In(1),
            "step": In(1),
            "zone": Out(config.geometry.zone_bits),
            "pending": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        zones = self.config.geometry.zones
        left = Signal(range(zones + 1))
        m.d.comb += self.pending.eq(left.any())
        with m.If(self.start):
            m.d.sync += left.eq(zones)
        with m.Elif(self.step):
            m.d.sync += [
                left.eq(left - 1),
                self.zone.eq(Mux(self.zone == zones - 1, 0, self.zone + 1)),
            ]
        return m
