"""Counts the commands of each stream that the tracker has not finished."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS


class InFlight(wiring.Component):
    """Commands in flight per stream, for what has to wait until there are none.

    `busy` follows one clock after the events.

    Members
    -------
    opened, opened_stream : In      a command of this stream was opened
    retired, retired_stream : In    a command of this stream has left the tracker
    busy : Out(8)                   bit per stream: it has commands in flight
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "opened": In(1),
            "opened_stream": In(STREAM_BITS),
            "retired": In(1),
            "retired_stream": In(STREAM_BITS),
            "busy": Out(MAX_STREAMS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        counts = [Signal(range(self.config.commands + 1), name=f"count{n}") for n in range(MAX_STREAMS)]
        for number, count in enumerate(counts):
            more = self.opened & (self.opened_stream == number)
            fewer = self.retired & (self.retired_stream == number)
            m.d.sync += count.eq(count + more - fewer)
        m.d.comb += self.busy.eq(Cat(count.any() for count in counts))
        return m
