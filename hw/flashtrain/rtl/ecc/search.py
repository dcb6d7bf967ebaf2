"""The places of errors: roots of a locator among the bits of a code word."""

from functools import reduce
from operator import xor

from amaranth import Array, Cat, Module, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import LANE_BYTES, PageCode
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for

from .field import scale
from .layouts import Correction, Locator, Verdict

_STAGES = 3
"""From the coefficients of a group to the number of its roots: values, comparison with 0, count."""


class RootSearch(wiring.Component):
    """Chien's search: the roots of a locator, `parallel` neighbouring bits of a code word per cycle.

    The search runs from the last bit of a word to its first, until it has found as many roots as the locator
    must have. The bits found are stored until then, so a word with too few roots has no corrections. Roots in
    the parity are counted, and not corrected.

    Latency, from the last coefficient to a word's verdict: 7 cycles; one more per `parallel` bits from the
    first error on; one more for each group of `parallel` bits of data with an error. A word that is clean or
    uncorrectable already takes 1 cycle. Throughput: one word at a time; the coefficients of the next one
    follow the verdict. Cost: docs/ecc.md; it grows with `strength` · `parallel`.

    Members
    -------
    input : In(stream(Locator))
    corrections : Out(stream(Correction))   positions are in groups of `parallel` bits
    verdicts : Out(stream(Verdict))         of each word, after its corrections have been taken
    """

    def __init__(self, code: PageCode, parallel: int = 8, sources: int = 1):
        require(parallel > 0 and 8 * LANE_BYTES % parallel == 0, "parallel", parallel,
                f"a divisor of {8 * LANE_BYTES} bits")  # fmt: skip
        self.code = code
        self.parallel = parallel
        self.sources = sources
        super().__init__({
            "input": In(stream.Signature(Locator(code, sources))),
            "corrections": Out(stream.Signature(Correction(code, parallel, sources))),
            "verdicts": Out(stream.Signature(Verdict(code, sources))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        code, field = self.code, self.code.field
        found_layout = data.StructLayout(
            {"position": bits_for(self._groups(code.data_bytes)), "mask": self.parallel}
        )
        m.submodules.found = cells = memory.Memory(shape=found_layout, depth=code.strength, init=[])
        store, read = cells.write_port(), cells.read_port(domain="comb")
        found, sent = Signal(range(code.strength + 1)), Signal(range(code.strength + 1))

        # Coefficient k is multiplied by x^-k for each bit towards the first.
        terms = [Signal(field.bits, name=f"term_{exponent}") for exponent in range(code.strength + 1)]
        values = [Signal(field.bits, name=f"value_{bit}") for bit in range(self.parallel)]
        searching, all_seen = Signal(_STAGES + 1), Signal()  # each stage has a group
        mask, ones, roots = (
            Signal(self.parallel),
            Signal(range(self.parallel + 1)),
            Signal(range(code.strength + 2)),
        )
        m.d.sync += searching[1:].eq(searching & Cat(1, 1, ~all_seen))
        for term_exponent, term in enumerate(terms):
            with m.If(searching[0]):
                m.d.sync += term.eq(scale(field, term, -term_exponent * self.parallel))
        for bit, value in enumerate(values):
            scaled = (scale(field, term, -exponent * bit) for exponent, term in enumerate(terms))
            m.d.sync += value.eq(reduce(xor, scaled))
        # The first bit of a group is the lowest of a mask.
        m.d.sync += [
            mask.eq(Cat(value == 0 for value in reversed(values))),
            ones.eq(sum(mask)),
        ]
        with m.If(searching[3]):
            m.d.sync += roots.eq(roots + ones)

        # The group of the present mask: in the parity, then in the data, which end at `position`.
        of_data, position = Signal(), Signal(range(self._groups(code.data_bytes)))
        left = Signal(range(max(self._groups(code.last_bytes), self._groups(code.parity_bytes))))
        ends = Array(self._groups(code.data(word).stop) - 1 for word in range(code.words))
        lengths = Array(
            self._groups(code.data(word).stop - code.data(word).start) - 1 for word in range(code.words)
        )
        m.d.comb += [
            store.en.eq(searching[2] & of_data & ~all_seen & mask.any()),
            store.addr.eq(found),
            store.data.position.eq(position),
            store.data.mask.eq(mask),
        ]
        word = self.verdicts.payload.word
        with m.If(searching[2] & ~all_seen):
            m.d.sync += [left.eq(left - 1), found.eq(found + store.en)]
            with m.If(of_data):
                m.d.sync += [position.eq(position - 1), all_seen.eq(left == 0)]
            with m.Elif(left == 0):
                m.d.sync += [of_data.eq(1), left.eq(lengths[word])]

        m.d.comb += [
            read.addr.eq(sent),
            self.corrections.payload.source.eq(self.verdicts.payload.source),
            self.corrections.payload.position.eq(read.data.position),
            self.corrections.payload.mask.eq(read.data.mask),
        ]
        with m.FSM(name="search"):
            with m.State("IDLE"):
                m.d.comb += self.input.ready.eq(1)
                m.d.sync += [
                    roots.eq(0), found.eq(0), sent.eq(0), all_seen.eq(0),
                    of_data.eq(0), left.eq(self._groups(code.parity_bytes) - 1),
                    position.eq(ends[self.input.payload.word]),
                    self.verdicts.payload.source.eq(self.input.payload.source),
                    self.verdicts.payload.word.eq(self.input.payload.word),
                    self.verdicts.payload.corrected.eq(self.input.payload.errors),
                    self.verdicts.payload.failed.eq(self.input.payload.failed),
                ]  # fmt: skip
                with m.If(self.input.valid):
                    chain = [*terms, self.input.payload.coefficient]
                    m.d.sync += [term.eq(after) for term, after in zip(terms, chain[1:], strict=True)]
                    with m.If(self.input.payload.last):
                        with m.If(self.input.payload.failed | (self.input.payload.errors == 0)):
                            m.next = "REPORT"
                        with m.Else():
                            m.d.sync += searching[0].eq(1)
                            m.next = "SEARCH"
            with m.State("SEARCH"):
                right = roots == self.verdicts.payload.corrected
                with m.If(right | (all_seen & ~searching[3])):
                    m.d.sync += [searching.eq(0), self.verdicts.payload.failed.eq(~right)]
                    m.next = "REPORT"
                    with m.If(right & (found != 0)):
                        m.next = "CORRECT"
            with m.State("CORRECT"):
                m.d.comb += self.corrections.valid.eq(1)
                with m.If(self.corrections.ready):
                    m.d.sync += sent.eq(sent + 1)
                    with m.If(sent + 1 == found):
                        m.next = "REPORT"
            with m.State("REPORT"):
                m.d.comb += self.verdicts.valid.eq(1)
                with m.If(self.verdicts.ready):
                    m.next = "IDLE"
        return m

    def _groups(self, count: int) -> int:
        """Groups of `parallel` bits in so many bytes."""
        return 8 * count // self.parallel
