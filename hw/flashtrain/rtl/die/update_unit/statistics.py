"""Statistics of the gradients."""

from amaranth import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import FLOAT32
from flashtrain.rtl.float.unpack import Unpack
from flashtrain.spec.optimizer import PARTIAL_SUMS


class GradientCounts(wiring.Component):
    """Counts NaNs and infinities, and keeps the largest magnitude.

    Members
    -------
    enable : In(1)
    clear : In(1)    at once; earlier inputs are discarded
    count : In(1)    of a binary32 number: `gradient`
    gradient : In(32)
    nans, infinities : Out(32)
    largest : Out(32)   infinities included, NaNs left out; +0 if there was nothing else

    Latency: three cycles with `enable`. Throughput: one per cycle.
    """

    def __init__(self):
        inputs = {"enable": In(1), "clear": In(1), "count": In(1), "gradient": In(32)}
        super().__init__({**inputs, "nans": Out(32), "infinities": Out(32), "largest": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack = unpack = Unpack(FLOAT32)
        number = unpack.number
        arrived, known = Signal(), Signal()
        gradient, magnitude = Signal(32, reset_less=True), Signal(31, reset_less=True)
        nan, infinite = Signal(reset_less=True), Signal(reset_less=True)
        m.d.comb += unpack.bits.eq(gradient)
        with m.If(self.enable):
            m.d.sync += [arrived.eq(self.count), gradient.eq(self.gradient)]
            m.d.sync += [known.eq(arrived), magnitude.eq(gradient[:31])]
            m.d.sync += [nan.eq(number.nan), infinite.eq(number.infinite)]
            with m.If(known):
                m.d.sync += [
                    self.nans.eq(self.nans + nan),
                    self.infinities.eq(self.infinities + infinite),
                ]
                # Numbers without a sign are in the order of their bits.
                with m.If((magnitude > self.largest) & ~nan):
                    m.d.sync += self.largest.eq(magnitude)
        with m.If(self.clear):
            m.d.sync += [arrived.eq(0), known.eq(0)]
            m.d.sync += [self.nans.eq(0), self.infinities.eq(0), self.largest.eq(0)]
        return m


class PartialSums(wiring.Component):
    """The partial sums, which gradients take in turn: each takes a sum, and some cycles later brings it back.

    They come back in order, and at the latest in the clock before their turn comes again.

    Members
    -------
    clear : In(1)     all sums are +0, and the first one is next
    restart : In(1)   the first one is next; only while all are back
    take : In(1)      the next one is taken
    next : Out(32)
    bring : In(1)     the first that is not back comes back
    brought : In(32)
    index : In(3), sum : Out(32)   any of them
    """

    def __init__(self):
        super().__init__(
            {
                "clear": In(1),
                "restart": In(1),
                "take": In(1),
                "next": Out(32),
                "bring": In(1),
                "brought": In(32),
                "index": In(range(PARTIAL_SUMS)),
                "sum": Out(32),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = memory.Memory(shape=32, depth=PARTIAL_SUMS, init=[])
        write = words.write_port()
        to_take, to_bring = Signal(range(PARTIAL_SUMS)), Signal(range(PARTIAL_SUMS))
        written = Signal(PARTIAL_SUMS)  # since `clear`; the others are zero
        m.d.comb += [write.addr.eq(to_bring), write.data.eq(self.brought), write.en.eq(self.bring)]
        for address, value in ((to_take, self.next), (self.index, self.sum)):
            read = words.read_port(domain="comb")
            m.d.comb += [
                read.addr.eq(address),
                value.eq(Mux(written.bit_select(address, 1), read.data, 0)),
            ]
        with m.If(self.take):
            m.d.sync += to_take.eq(to_take + 1)
        with m.If(self.bring):
            m.d.sync += [to_bring.eq(to_bring + 1), written.bit_select(to_bring, 1).eq(1)]
        with m.If(self.clear):
            m.d.sync += [to_take.eq(0), to_bring.eq(0), written.eq(0)]
        with m.Elif(self.restart):
            m.d.sync += [to_take.eq(0), to_bring.eq(0)]
        return m
