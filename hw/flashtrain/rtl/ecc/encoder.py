"""The encoder: parity behind a page."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import PageCode

from .code_words import WordPosition, WordStore, require_width
from .field import linear


class PageEncoder(wiring.Component):
    """Passes the beats of pages on, data and identity, and sends the parity of their code words after them.

    A shift register with feedback takes a beat per cycle. At the end of a code word it holds the remainder of
    the division by the generator. A store keeps it until the end of the page.

    Latency: none, beats pass through combinationally; parity follows at once. Throughput: one beat per cycle.
    Cost, 16 bits, 4 KiB, strength 13: docs/ecc.md.

    Members
    -------
    input : In(stream(width))     `code.data_bytes` of each page
    output : Out(stream(width))   `code.page_bytes`
    """

    def __init__(self, code: PageCode, width: int = 16):
        require_width(width)
        self.code = code
        self.width = width
        super().__init__({
            "input": In(stream.Signature(width)), "output": Out(stream.Signature(width)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.position = position = WordPosition(self.code, self.width)
        m.submodules.store = store = WordStore(self.code, self.code.parity_bits)
        remainder = Signal(self.code.parity_bits)
        leaving = Signal(self.width)  # terms that leave the register; their remainders are fed back
        divided = Signal.like(remainder)
        m.d.comb += [
            # While parity is sent the feedback is zero: the register is shifted out.
            leaving.eq(Mux(position.parity, 0, self._first_bits(remainder) ^ ~self.input.payload)),
            divided.eq((remainder << self.width) ^ linear(leaving, self._columns(), len(remainder))),
            position.step.eq(self.output.valid & self.output.ready),
            store.put.eq(position.step & position.ends & ~position.parity),
            store.put_word.eq(position.word),
            store.put_value.eq(divided),
            store.take_word.eq(Mux(position.parity, position.word + 1, 0)),
        ]
        with m.If(position.step):
            m.d.sync += remainder.eq(divided)
            if self.code.words > 1:
                with m.If(position.ends):
                    m.d.sync += remainder.eq(Mux(position.parity ^ position.last, store.taken, 0))
        with m.If(position.parity):
            m.d.comb += [
                self.output.valid.eq(1),
                self.output.payload.eq(~self._first_bits(remainder)),
            ]
        with m.Else():
            m.d.comb += [
                self.output.valid.eq(self.input.valid),
                self.output.payload.eq(self.input.payload),
                self.input.ready.eq(self.output.ready),
            ]
        return m

    def _first_bits(self, remainder):
        """The bits of a beat: the coefficients of the highest degree, highest first."""
        bits = [*reversed(remainder), *(Const(0, 1) for _ in range(self.width))]
        return Cat(bits[: self.width])

    def _columns(self) -> list[int]:
        """The remainder of each bit of a beat, whose first bit has the highest degree."""
        code = self.code
        column, columns = code.generator ^ 1 << code.parity_bits, []
        for _ in range(self.width):
            columns.insert(0, column)
            column <<= 1
            if column >> code.parity_bits:
                column ^= code.generator
        return columns
