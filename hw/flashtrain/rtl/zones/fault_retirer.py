"""Which zone is to become read-only, because a page of it could not be programmed."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS, Operation, Retired
from flashtrain.spec import FmsConfig


class FaultRetirer(wiring.Component):
    """Keeps the zone of an append or write whose program has failed until the zone manager has retired it.

    Updates are not meant: the driver repeats them.

    While a zone waits no command leaves the tracker, so none is forgotten. The zone's own is no longer in
    flight: the manager has to take the zone before it looks at a command that may have waited for that one.
    And the tracker may hold an opening back: the manager must not wait for it without taking the zone.

    Latency: 1 clock from the report to `waits`. The manager reads the zone's entry in the clock of `looks`,
    and changes it in the next one.

    Members
    -------
    retired : In(stream(Retired))       commands that have left the tracker; ready unless a zone waits
    waits : Out(1)                      a zone waits to be looked at
    looks : In(1)                       its entry is being read; only if it waits
    stores : Out(1)                     a clock later: the entry is there
    zone : Out(zone_bits)               the logical zone, from `waits` to `stores`
    stream : Out(STREAM_BITS)           its stream
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "retired": In(stream.Signature(Retired(config))),
            "waits": Out(1),
            "looks": In(1),
            "stores": Out(1),
            "zone": Out(config.geometry.zone_bits),
            "stream": Out(STREAM_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        command = self.retired.payload
        appends = (command.operation == Operation.APPEND) | (command.operation == Operation.WRITE)
        m.d.comb += self.retired.ready.eq(~self.waits)
        m.d.sync += self.stores.eq(self.looks)
        with m.If(self.looks):
            m.d.sync += self.waits.eq(0)
        with m.If(self.retired.valid & self.retired.ready & command.program_failed & appends):
            m.d.sync += [self.waits.eq(1), self.zone.eq(command.zone), self.stream.eq(command.stream)]
        return m
