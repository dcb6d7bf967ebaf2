"""Erases of a physical zone, broadcast to all channels, and within a channel to all dies."""

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
    """The end of an erase."""

    def __init__(self):
        super().__init__({"failed": 1})


class EraseBroadcast(wiring.Component):
    """Broadcasts one erase at a time to `count` parts, and merges their results.

    An erase has failed if it failed in any part.

    Latency: 1 cycle from the request to the parts, 2 cycles from the last result to `done`. Throughput: one
    erase at a time.

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
        unsent = Signal(self.count)
        outstanding = Signal(self.count)
        failed = Signal()
        busy = Signal()

        m.d.comb += [
            self.request.ready.eq(~busy),
            self.done.payload.failed.eq(failed),
        ]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += [
                busy.eq(1),
                zone.eq(self.request.payload.zone),
                unsent.eq(-1),
                outstanding.eq(-1),
                failed.eq(0),
            ]
        m.d.sync += self.done.valid.eq(busy & ~outstanding.any())
        with m.If(self.done.valid & self.done.ready):
            m.d.sync += [busy.eq(0), self.done.valid.eq(0)]

        failures = Signal(self.count)
        for part, (erase, erased) in enumerate(zip(self.erase, self.erased, strict=True)):
            m.d.comb += [
                erase.valid.eq(unsent[part]),
                erase.payload.zone.eq(zone),
                erased.ready.eq(outstanding[part]),
                failures[part].eq(erased.valid & erased.ready & erased.payload.failed),
            ]
            with m.If(erase.valid & erase.ready):
                m.d.sync += unsent[part].eq(0)
            with m.If(erased.valid & erased.ready):
                m.d.sync += outstanding[part].eq(0)
        with m.If(failures.any()):
            m.d.sync += failed.eq(1)
        return m
