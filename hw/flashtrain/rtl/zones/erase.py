"""Erases of a physical zone: asked of all channels, and within a channel of all dies."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class EraseRequest(data.StructLayout):
    """A physical zone to be erased: every die, every plane.

    Numbers past the zones are those of spares: the block of that number on each plane, unless it is in use.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"zone": config.geometry.block_bits})


class EraseResult(data.StructLayout):
    """The erase is over."""

    def __init__(self):
        super().__init__({"failed": 1})


class EraseBroadcast(wiring.Component):
    """One erase at a time, handed to each of `count` parts and complete when all have answered.

    Latency: a part is asked one clock after the request is taken; `done` comes one clock after the last
    answer. It has failed if it failed in any part.

    Members
    -------
    request : In(stream(EraseRequest))
    done : Out(stream(EraseResult))
    erase : Out(stream(EraseRequest)).array(count)
    erased : In(stream(EraseResult)).array(count)
    """

    def __init__(self, config: FmsConfig, count: int):
        self.config = config
        self.count = count
        request = stream.Signature(EraseRequest(config))
        result = stream.Signature(EraseResult())
        super().__init__({
            "request": In(request),
            "done": Out(result),
            "erase": Out(request).array(count),
            "erased": In(result).array(count),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        zone = Signal(self.config.geometry.block_bits)
        unasked = Signal(self.count)
        unanswered = Signal(self.count)
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

        failures = Signal(self.count)
        for part, (erase, erased) in enumerate(zip(self.erase, self.erased, strict=True)):
            m.d.comb += [
                erase.valid.eq(unasked[part]),
                erase.payload.zone.eq(zone),
                erased.ready.eq(unanswered[part]),
                failures[part].eq(erased.valid & erased.ready & erased.payload.failed),
            ]
            with m.If(erase.valid & erase.ready):
                m.d.sync += unasked[part].eq(0)
            with m.If(erased.valid & erased.ready):
                m.d.sync += unanswered[part].eq(0)
        with m.If(failures.any()):
            m.d.sync += failed.eq(1)
        return m
