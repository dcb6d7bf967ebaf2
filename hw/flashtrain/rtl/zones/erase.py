"""Erases a physical zone on all channels."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class EraseRequest(data.StructLayout):
    """A physical zone to be erased: every die, every plane."""

    def __init__(self, config: FmsConfig):
        super().__init__({"zone": config.geometry.zone_bits})


class EraseResult(data.StructLayout):
    """The erase is over."""

    def __init__(self):
        super().__init__({"failed": 1})


class EraseBroadcast(wiring.Component):
    """One erase at a time, handed to each of the C channels and complete when all have answered.

    Latency: a channel is asked one clock after the request is taken; `done` comes one clock after the last
    answer. It has failed if it failed on any channel.

    Members
    -------
    request : In(stream(EraseRequest))
    done : Out(stream(EraseResult))
    erase : Out(stream(EraseRequest)).array(C)
    erased : In(stream(EraseResult)).array(C)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        request = stream.Signature(EraseRequest(config))
        result = stream.Signature(EraseResult())
        super().__init__({
            "request": In(request),
            "done": Out(result),
            "erase": Out(request).array(channels),
            "erased": In(result).array(channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        channels = self.config.geometry.channels
        zone = Signal(self.config.geometry.zone_bits)
        unasked = Signal(channels)
        unanswered = Signal(channels)
        failed = Signal()
        busy = Signal()

        m.d.comb += [
            self.request.ready.eq(~busy),
            self.done.valid.eq(busy & ~unanswered.any()),
            self.done.payload.failed.eq(failed),
        ]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += [
                busy.eq(1),
                zone.eq(self.request.payload.zone),
                unasked.eq(-1),
                unanswered.eq(-1),
                failed.eq(0),
            ]
        with m.If(self.done.valid & self.done.ready):
            m.d.sync += busy.eq(0)

        failures = Signal(channels)
        for channel, (erase, erased) in enumerate(zip(self.erase, self.erased, strict=True)):
            m.d.comb += [
                erase.valid.eq(unasked[channel]),
                erase.payload.zone.eq(zone),
                erased.ready.eq(unanswered[channel]),
                failures[channel].eq(erased.valid & erased.ready & erased.payload.failed),
            ]
            with m.If(erase.valid & erase.ready):
                m.d.sync += unasked[channel].eq(0)
            with m.If(erased.valid & erased.ready):
                m.d.sync += unanswered[channel].eq(0)
        with m.If(failures.any()):
            m.d.sync += failed.eq(1)
        return m
