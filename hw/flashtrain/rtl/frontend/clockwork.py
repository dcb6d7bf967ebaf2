"""What changes in the hub although nothing happens."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Counter

from .counters import COUNTER_BITS, Counters, Pulses
from .seconds import Seconds
from .stopwatch import Span, Stopwatch


class HubClockworkPort(wiring.Signature):
    """The clockwork as the hub sees it.

    Members
    -------
    pulses : Out(Pulses), span : Out(Span)   to be counted and measured
    select : Out, sample : Out(1), value : In(64)   see `Counters`
    second : In(1)                                  pulse: a second is over
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "pulses": Out(Pulses()),
            "span": Out(Span(config)),
            "select": Out(range(len(Counter))),
            "sample": Out(1),
            "value": In(COUNTER_BITS),
            "second": In(1),
        })  # fmt: skip


class HubClockwork(wiring.Component):
    """The counters of the hub, and its seconds: all that changes on its own.

    See `ChannelClockwork` for why it is apart.

    Members
    -------
    port : In(HubClockworkPort)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({"port": In(HubClockworkPort(config))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.stopwatch = stopwatch = Stopwatch(self.config)
        m.submodules.counters = counters = Counters()
        m.submodules.seconds = seconds = Seconds(self.config.timing.clock_mhz * 1_000_000)
        m.d.comb += [
            stopwatch.span.eq(self.port.span),
            counters.latency.eq(stopwatch.latency),
            counters.pulses.eq(self.port.pulses),
            counters.select.eq(self.port.select),
            counters.sample.eq(self.port.sample),
            self.port.value.eq(counters.value),
            self.port.second.eq(seconds.second),
        ]
        return m
