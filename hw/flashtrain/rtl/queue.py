"""A first-in first-out queue of a typed payload, as streams."""

from amaranth import Module, Value
from amaranth.hdl import Shape
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out


class Queue(wiring.Component):
    """Holds up to `depth` items (at least 3, below which the FIFO does not run at full rate).

    Latency: 1 clock. Throughput: one item per clock.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    level : Out   items that are here
    """

    def __init__(self, layout, depth: int):
        self.layout = layout
        self.depth = max(depth, 3)
        super().__init__({
            "input": In(stream.Signature(layout)),
            "output": Out(stream.Signature(layout)),
            "level": Out(range(self.depth + 1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        width = Shape.cast(self.layout).width
        m.submodules.fifo = store = fifo.SyncFIFOBuffered(width=width, depth=self.depth)
        m.d.comb += [
            store.w_data.eq(Value.cast(self.input.payload)),
            store.w_en.eq(self.input.valid),
            self.input.ready.eq(store.w_rdy),
            Value.cast(self.output.payload).eq(store.r_data),
            self.output.valid.eq(store.r_rdy),
            store.r_en.eq(self.output.ready),
            self.level.eq(store.level),
        ]
        return m
