"""The page buffers that are free."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for

from ..queue import Queue


class FreePages(wiring.Component):
    """Gives out numbers below `count` (a power of two) and takes them back in any order.

    At first the numbers come from a counter, so that no list has to be filled after reset.

    Latency: 1 clock from a return to the next one given. Throughput: one per clock.

    Members
    -------
    output : Out(stream(range(count)))
    returns : In(1), returned : In(range(count))   this number is free again
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "output": Out(stream.Signature(bits_for(count))),
            "returns": In(1),
            "returned": In(bits_for(count)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.numbers = numbers = Queue(bits_for(self.count), self.count)
        unused = Signal(range(self.count + 1), init=self.count)
        m.d.comb += [
            numbers.input.valid.eq(self.returns),
            numbers.input.payload.eq(self.returned),
        ]
        with m.If(unused != 0):
            m.d.comb += [self.output.valid.eq(1), self.output.payload.eq(self.count - unused)]
            with m.If(self.output.ready):
                m.d.sync += unused.eq(unused - 1)
        with m.Else():
            m.d.comb += [
                self.output.valid.eq(numbers.output.valid),
                self.output.payload.eq(numbers.output.payload),
                numbers.output.ready.eq(self.output.ready),
            ]
        return m
