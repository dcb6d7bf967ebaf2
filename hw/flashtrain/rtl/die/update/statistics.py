"""What is counted of the gradients."""

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
    clear : In(1)
    count : In(1)    of a binary32 number: `gradient`
    gradient : In(32)
    nans, infinities : Out(32)
    largest : Out(32)   infinities included, NaNs left out; +0 if there was nothing else
    """

    def __init__(self):
        inputs = {"clear": In(1), "count": In(1), "gradient": In(32)}
        super().__init__({**inputs, "nans": Out(32), "infinities": Out(32), "largest": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack = unpack = Unpack(FLOAT32)
        m.d.comb += unpack.bits.eq(self.gradient)
        magnitude = self.gradient[:31]
        with m.If(self.clear):
            m.d.sync += [self.nans.eq(0), self.infinities.eq(0), self.largest.eq(0)]
        with m.Elif(self.count):
            m.d.sync += [
                self.nans.eq(self.nans + unpack.number.nan),
                self.infinities.eq(self.infinities + unpack.number.infinite),
            ]
            # Numbers without a sign are in the order of their bits.
            with m.If((magnitude > self.largest) & ~unpack.number.nan):
                m.d.sync += self.largest.eq(magnitude)
        return m


class PartialSums(wiring.Component):
    """The partial sums, which gradients take in turn: each takes a sum, and some clocks later brings it back.

    They come back in order, and at the latest in the clock before their turn comes again.

    Members
    -------
    clear : In(1)     all sums are +0, and the first one is next
    restart : In(1)   the first one is next; only while all are back
    take : In(1)      the next one is taken
    taken : Out(32)   the next one, or the one at `index` if nothing is taken
    bring : In(1)     the first that is not back comes back
    brought : In(32)
    index : In(3)
    """

    def __init__(self):
        super().__init__(
            {
                "clear": In(1),
                "restart": In(1),
                "take": In(1),
                "taken": Out(32),
                "bring": In(1),
                "brought": In(32),
                "index": In(range(PARTIAL_SUMS)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.sums = sums = memory.Memory(shape=32, depth=PARTIAL_SUMS, init=[])
        write, read = sums.write_port(), sums.read_port(domain="comb")
        to_take, to_bring = Signal(range(PARTIAL_SUMS)), Signal(range(PARTIAL_SUMS))
        brought = Signal(PARTIAL_SUMS)  # since `clear`; the others are zero
        m.d.comb += [
            *(write.addr.eq(to_bring), write.data.eq(self.brought), write.en.eq(self.bring)),
            read.addr.eq(Mux(self.take, to_take, self.index)),
            self.taken.eq(Mux(brought.bit_select(read.addr, 1), read.data, 0)),
        ]
        with m.If(self.clear):
            m.d.sync += [to_take.eq(0), to_bring.eq(0), brought.eq(0)]
        with m.Elif(self.restart):
            m.d.sync += [to_take.eq(0), to_bring.eq(0)]
        with m.Else():
            with m.If(self.take):
                m.d.sync += to_take.eq(to_take + 1)
            with m.If(self.bring):
                m.d.sync += [to_bring.eq(to_bring + 1), brought.bit_select(to_bring, 1).eq(1)]
        return m
