"""A register on a stream, in both directions."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class RegisterSlice(wiring.Component):
    """Cuts every combinational path between its two sides: `valid`, payload and `ready` come from registers.

    It stands where a stream crosses from one part of the chip to another, and so lets each part be simulated
    on its own, exchanging values once per clock.

    Latency: 1 clock. Throughput: one item per clock. Cost: two registers of the payload.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    """

    def __init__(self, layout):
        self.layout = layout
        super().__init__({"input": In(stream.Signature(layout)), "output": Out(stream.Signature(layout))})

    def elaborate(self, platform):
        m = Module()
        waiting, spare = Signal(), Signal(self.layout)
        m.d.comb += self.input.ready.eq(~waiting)
        with m.If(self.output.ready | ~self.output.valid):
            m.d.sync += [
                self.output.valid.eq(waiting | self.input.valid),
                waiting.eq(0),
            ]
            with m.If(waiting):
                m.d.sync += self.output.payload.eq(spare)
            with m.Else():
                m.d.sync += self.output.payload.eq(self.input.payload)
        with m.Elif(self.input.valid & ~waiting):
            m.d.sync += [waiting.eq(1), spare.eq(self.input.payload)]
        return m
