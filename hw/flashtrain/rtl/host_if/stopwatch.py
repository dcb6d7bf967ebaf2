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

    Latency: 2 cycles from the end to `latency`.

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
        now, began, ended = (Signal(LATENCY_BITS, name=name) for name in ("now", "began", "ended"))
        ends = Signal.like(span)
        m.d.comb += [
            read.addr.eq(span.tag),
            write.addr.eq(span.tag),
            write.en.eq(span.begins),
            write.data.eq(now),
        ]
        m.d.sync += [
            now.eq(now + 1),
            began.eq(read.data),
            ended.eq(now),
            ends.eq(span),
            latency.append.eq(ends.ends & ends.append),
            latency.read.eq(ends.ends & ends.read),
            latency.cycles.eq(ended - began),
        ]
        return m
