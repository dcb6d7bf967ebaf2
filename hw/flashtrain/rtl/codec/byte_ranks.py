"""Ranks of the valid bytes of a slice, and their number."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES

from .byte_network import PLACE_BITS, delayed
from .counting import QUAD, count_of_quad

_QUADS = SLICE_BYTES // QUAD
RANKS_CYCLES = 4
"""From the valid bytes of a slice to their ranks."""


class ByteRanks(wiring.Component):
    """The number of valid bytes before each byte of a slice, in two parts: before its quad, and within it.

    No adder has more than two operands.

    Latency: `RANKS_CYCLES`. Throughput: a slice per cycle.

    Members
    -------
    valid : In(32)     the valid bytes
    ahead : Out(8 counts)   of the quads before each quad, modulo 32
    ranks : Out(32 counts)  of the bytes before each byte of its quad
    length : Out(6)    of all
    """

    def __init__(self):
        super().__init__({
            "valid": In(SLICE_BYTES),
            "ahead": Out(data.ArrayLayout(PLACE_BITS, _QUADS)),
            "ranks": Out(data.ArrayLayout(2, SLICE_BYTES)),
            "length": Out(range(SLICE_BYTES + 1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()

        def summed(name: str, one, other, width: int) -> Signal:
            result = Signal(width, name=name, reset_less=True)
            m.d.sync += result.eq(one + other)
            return result

        # 1: in quads. 2: in pairs of quads. 3: in halves of the slice, and before the quads of each half.
        ranks, counts = Signal(2 * SLICE_BYTES, reset_less=True), []
        for quad in range(_QUADS):
            bits = self.valid[QUAD * quad :][:QUAD]
            count = Signal(3, name=f"count_{quad}", reset_less=True)
            m.d.sync += count.eq(count_of_quad(bits))
            counts.append(count)
            for bit in range(QUAD):
                below = Cat(bits[:bit], Const(0, QUAD - bit))
                m.d.sync += ranks.word_select(QUAD * quad + bit, 2).eq(count_of_quad(below))
        pairs = [summed(f"pair_{at}", counts[at], counts[at + 1], 4) for at in range(0, _QUADS, 2)]
        counts_2 = [delayed(m, count, 1, f"count_{at}") for at, count in enumerate(counts)]
        halves = [summed(f"half_{at}", pairs[2 * at], pairs[2 * at + 1], 5) for at in range(2)]
        before = []
        for half in range(2):
            first = 4 * half
            before += [
                Const(0),
                delayed(m, counts_2[first], 1, f"count_late_{half}"),
                delayed(m, pairs[2 * half], 1, f"pair_late_{half}"),
                summed(f"three_{half}", pairs[2 * half], counts_2[first + 2], 4),
            ]

        # 4: before the quads of the upper half too, and of all.
        for quad in range(_QUADS):
            if quad < _QUADS // 2:
                m.d.sync += self.ahead[quad].eq(before[quad])
            else:
                m.d.sync += self.ahead[quad].eq(halves[0] + before[quad])
        m.d.sync += self.length.eq(halves[0] + halves[1])
        m.d.comb += self.ranks.eq(delayed(m, ranks, RANKS_CYCLES - 1, "ranks"))
        return m
