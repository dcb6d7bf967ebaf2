"""Which page buffers are free, and which pages are whole."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for

from .payload_packer import PAYLOAD_CYCLES


class PageCounters(wiring.Component):
    """Counts pages from their beginning until their output. Buffers are used in turn.

    Latency: the last part of a page takes `delay` cycles to reach its buffer. All is counted a cycle later.

    Members
    -------
    begins : In(1), free : Out(1)   a page takes a buffer, only if there is one
    closes : In(1)          the last part of a page
    whole : Out(1)          there is a whole page that was not taken; the oldest is in buffer `offered`
    take : In(1)            it is taken, only if there is one
    offered : Out, output : Out   buffers of the next page to be taken, and of the oldest page
    release : In(1)         the oldest page is output; only one that was taken
    """

    def __init__(self, buffers: int, delay: int = PAYLOAD_CYCLES):
        self.buffers = buffers
        self.delay = delay
        super().__init__({
            "begins": In(1),
            "free": Out(1),
            "closes": In(1),
            "whole": Out(1),
            "take": In(1),
            "offered": Out(bits_for(buffers)),
            "output": Out(bits_for(buffers)),
            "release": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        used, whole = Signal(range(self.buffers + 1)), Signal(range(self.buffers + 1))
        used_next = Signal(range(-1, self.buffers + 2))
        under_way = Signal(self.delay)  # the last parts of pages
        arrives = under_way[-1]
        m.d.comb += [used_next.eq(used + self.begins - self.release), self.whole.eq(whole != 0)]
        m.d.sync += [
            under_way.eq(under_way << 1 | self.closes),
            used.eq(used_next),
            self.free.eq(used_next < self.buffers),
            whole.eq(whole + arrives - self.take),
        ]
        for happens, buffer in ((self.take, self.offered), (self.release, self.output)):
            with m.If(happens):
                m.d.sync += buffer.eq(Mux(buffer == self.buffers - 1, 0, buffer + 1))
        return m
