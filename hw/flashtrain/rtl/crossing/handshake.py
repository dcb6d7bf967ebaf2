"""A stream between two clock domains, an item at a time."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out


class Handshake(wiring.Component):
    """Passes an item to the other domain, and accepts it when the other side has accepted it.

    So whatever the source does after a transfer reaches the target later than the item, by any way.

    A bit that toggles stands for an item, and another one for its acceptance. Each passes two registers. The
    payload has no synchroniser: the source holds it, and the target takes it at its third edge behind the
    bit.

    Both sides must be in reset at the same time. While the source alone is in reset, the target may take an
    item that is none.

    - Latency: `output` is valid 1 edge of the source and 3 of the target behind `input`. `input` is ready 2
      edges of the source behind the transfer at `output`. A metastable register adds an edge to either.
    - Throughput: an item per 4 cycles of the source and 4 of the target.
    - Cost: a register of the payload, and 8 more.

    Parameters
    ----------
    layout : of the payload
    source, target : clock domains

    Members
    -------
    input : In(stream)     in `source`
    output : Out(stream)   in `target`
    waiting : Out(1)       in `source`: an item is offered and not accepted
    """

    def __init__(self, layout, source: str, target: str):
        self.source = source
        self.target = target
        super().__init__({
            "input": In(stream.Signature(layout)),
            "output": Out(stream.Signature(layout)),
            "waiting": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sent, seen_sent, taken, seen_taken = Signal(), Signal(), Signal(), Signal()
        m.submodules.sent = FFSynchronizer(sent, seen_sent, o_domain=self.target)
        m.submodules.taken = FFSynchronizer(taken, seen_taken, o_domain=self.source)

        under_way = Signal()
        m.d.comb += [
            self.input.ready.eq(under_way & (sent == seen_taken)),
            self.waiting.eq(self.input.valid | under_way),
        ]
        with m.If(self.input.ready):
            m.d[self.source] += under_way.eq(0)
        with m.Elif(self.input.valid & ~under_way):
            m.d[self.source] += [under_way.eq(1), sent.eq(~sent)]

        with m.If(self.output.valid & self.output.ready):
            m.d[self.target] += [self.output.valid.eq(0), taken.eq(seen_sent)]
        with m.Elif(~self.output.valid & (seen_sent != taken)):
            m.d[self.target] += [self.output.valid.eq(1), self.output.payload.eq(self.input.payload)]
        return m
