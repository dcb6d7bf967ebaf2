"""The stopwatch of commands."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from .counters import LATENCY_BITS, Latency


class Span(data.StructLayout):
    """The command with `tag` begins, or ends, in this cycle; its kind is valid at its end."""

    def __init__(self, config: FmsConfig):
        super().__init__({"begins": 1, "ends": 1, "append": 1, "read": 1, "tag": config.tag_bits})


class Stopwatch(wiring.Component):
    """Measures the time from the beginning of each command to its end.

    Latency: 1 cycle from the end to `latency`.

    Members
    -------
    span : In(Span)
    latency : Out(Latency)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({"span": In(Span(config)), "latency": Out(Latency())})

    def elaborate(self, platform):
        m = Module()
        span, latency = self.span, self.latency
        m.submodules.begun = begun = Memory(shape=LATENCY_BITS, depth=self.config.commands, init=[])
        read, write = begun.read_port(domain="comb"), begun.write_port()
        now = Signal(LATENCY_BITS)
        m.d.comb += [
            read.addr.eq(span.tag),
            write.addr.eq(span.tag),
            write.en.eq(span.begins),
            write.data.eq(now),
        ]
        m.d.sync += [
            now.eq(now + 1),
            latency.append.eq(span.ends & span.append),
            latency.read.eq(span.ends & span.read),
            latency.cycles.eq(now - read.data),
        ]
        return m
