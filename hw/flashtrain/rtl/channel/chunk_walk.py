"""What the chunks of a page from the bus are."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..identity import RECORD_BITS
from .gearbox import Chunks


class ChunkWalk(wiring.Component):
    """Goes through the chunks of pages: data, the identity behind them, then parity if there is a code.

    All outputs are of the chunk that is there, combinationally.

    Members
    -------
    valid : In(1), chunk : In
    of_data : Out(1)                    it belongs into memory,
    word : Out, number : Out            as this chunk of this word of the page
    identified : Out(1), identity : Out(128)   the page's identity is whole with it
    ends : Out(1)                       it is the page's last
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        chunks = Chunks(config)
        super().__init__({
            "valid": In(1),
            "chunk": In(chunks.bits),
            "of_data": Out(1),
            "word": Out(range(config.page_beats)),
            "number": Out(bits_for(chunks.count)),
            "identified": Out(1),
            "identity": Out(RECORD_BITS),
            "ends": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        chunks, code = Chunks(self.config), self.config.code
        last_chunk = self.number == chunks.count - 1
        ending, of_identity = Signal(), Signal(range(RECORD_BITS // chunks.bits))
        last_of_identity = Signal()  # is to come
        begun = Signal(RECORD_BITS)
        in_parity = Signal()
        m.d.comb += [
            self.of_data.eq(self.valid & ~ending & ~in_parity),
            self.identity.eq(Cat(begun[chunks.bits :], self.chunk)),
            self.identified.eq(self.valid & last_of_identity),
        ]
        with m.If(self.of_data):
            m.d.sync += self.number.eq(Mux(last_chunk, 0, self.number + 1))
            with m.If(last_chunk):
                m.d.sync += [self.word.eq(self.word + 1), ending.eq(self.word.all())]
        with m.If(self.valid & ending):
            m.d.sync += [
                begun.eq(self.identity),
                of_identity.eq(of_identity + 1),
                last_of_identity.eq(of_identity == RECORD_BITS // chunks.bits - 2),
                ending.eq(~last_of_identity),
            ]
        if code is None:
            m.d.comb += self.ends.eq(self.identified)
            return m

        parity_chunks = 8 * code.words * code.parity_bytes // chunks.bits
        left = Signal(range(parity_chunks))
        m.d.comb += self.ends.eq(self.valid & in_parity & (left == 0))
        with m.If(self.identified):
            m.d.sync += [in_parity.eq(1), left.eq(parity_chunks - 1)]
        with m.Elif(self.valid & in_parity):
            m.d.sync += [in_parity.eq(left != 0), left.eq(left - 1)]
        return m
