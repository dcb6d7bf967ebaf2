"""Syndromes of the code words of a page."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import PageCode

from .code_words import WordPosition, WordStore, require_width
from .field import linear, scale
from .layouts import Syndromes


class PageSyndromes(wiring.Component):
    """Evaluates the code words of pages at x, x^3, x^5 to x^(2 strength - 1), by Horner's rule.

    The sums of a word are stored at the end of its data, until its parity follows.

    Latency: 1 cycle from the last beat of a word's parity. Throughput: one beat per cycle. The last beat of a
    parity stalls while the output holds the word before. It never does if each word is taken within
    `8 * code.parity_bytes / width` cycles: a design that does so has an input that is `always_ready`.
    Cost: docs/ecc.md.

    Members
    -------
    input : In(stream(width))        `code.page_bytes` of each page
    output : Out(stream(Syndromes))  of each code word, in their order
    """

    def __init__(self, code: PageCode, width: int = 16, *, always_ready: bool = False):
        require_width(width)
        self.code = code
        self.width = width
        self._always_ready = always_ready
        super().__init__({
            "input": In(stream.Signature(width, always_ready=always_ready)),
            "output": Out(stream.Signature(Syndromes(code))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        code, bits = self.code, self.code.field.bits
        m.submodules.position = position = WordPosition(code, self.width)
        m.submodules.store = store = WordStore(code, code.strength * bits)
        beat = Signal(self.width)
        sums = Signal(code.strength * bits)
        evaluated = Signal.like(sums)
        ends_parity, output_free = Signal(), Signal()
        m.d.comb += [
            beat.eq(~self.input.payload),
            evaluated.eq(Cat(
                self._horner(sums[index * bits :][:bits], beat, root) for index, root in enumerate(code.roots)
            )),
            ends_parity.eq(position.parity & position.ends),
            output_free.eq(~self.output.valid | self.output.ready),
            position.step.eq(self.input.valid & self.input.ready),
            store.put.eq(position.step & position.ends & ~position.parity),
            store.put_word.eq(position.word),
            store.put_value.eq(evaluated),
            store.take_word.eq(Mux(position.parity, position.word + 1, 0)),
        ]  # fmt: skip
        if not self._always_ready:
            m.d.comb += self.input.ready.eq(~ends_parity | output_free)
        with m.If(self.output.ready):
            m.d.sync += self.output.valid.eq(0)
        with m.If(position.step):
            m.d.sync += sums.eq(evaluated)
            with m.If(position.ends):
                # The sums of the next word: zero, or those stored. A single word continues.
                if self.code.words > 1:
                    m.d.sync += sums.eq(Mux(position.parity ^ position.last, store.taken, 0))
                else:
                    m.d.sync += sums.eq(Mux(position.parity, 0, evaluated))
            with m.If(ends_parity):
                m.d.sync += [
                    self.output.valid.eq(1),
                    self.output.payload.word.eq(position.word),
                    self.output.payload.values.eq(evaluated),
                ]
        return m

    def _horner(self, value, beat, root: int):
        """The value at x^root after a beat more, whose first bit has the highest degree."""
        field, width = self.code.field, self.width
        weights = [field.power(root * (width - 1 - bit)) for bit in range(width)]
        return scale(field, value, root * width) ^ linear(beat, weights, field.bits)
