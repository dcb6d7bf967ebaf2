"""The key solver: the error locator of a code word, whose roots are the places of its errors."""

from amaranth import Array, Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import PageCode

from .field import multiply, square
from .layouts import Locator, Syndromes


class _Registers:
    """The state that the phases share."""

    def __init__(self, code: PageCode):
        strength, bits = code.strength, code.field.bits
        self.errors = Signal(range(2 * strength))
        self.iteration = Signal(range(strength))
        self.longest = Signal(range(strength + 1))  # the last coefficient of `before`, as stored
        self.shift = Signal(range(2 * strength + 2))
        self.scale = Signal(bits)
        self.discrepancy = Signal(bits)
        self.index = Signal(range(2 * strength))  # of a syndrome or a coefficient
        # coefficients at the multipliers, a cycle later
        self.left = Signal(bits)
        self.right = Signal(bits)
        self.multiplying = Signal()
        self.place = Signal(range(strength + 1))
        self.grows = Signal()
        self.more_errors = Signal(range(2 * strength))
        self.previous_errors = Signal(range(2 * strength))
        self.initialise = Signal()
        self.updating = Signal()
        self.next_iteration = Signal()


class KeySolver(wiring.Component):
    """Solves the key equation: syndromes in, the coefficients of the error locator out.

    Berlekamp and Massey's algorithm without division, in the form for binary codes. Each of `strength`
    iterations makes the locator right for one odd syndrome more. A cycle takes one coefficient, with two
    multipliers, and an iteration as many coefficients as there are errors so far.

        discrepancy = sum of locator[k] · syndrome[2 i + 1 - k]
        locator     = scale · locator + discrepancy · x · before
        before      = x · locator as it was, if that made the locator longer, otherwise x² · before
        scale       = the discrepancy, likewise

    With a discrepancy of 0 the locator stays: it is right up to a factor. Coefficients are in small memories;
    that of `before` holds them `shift` places lower.

    Latency, of a word with v errors, until its last coefficient: 3 `strength` + 1 cycles for syndromes and
    coefficients; v + 3 in each iteration, and v + 2 more in those that find an error, where v counts those
    found. With strength 13: 91 cycles for one error, 275 for 13, 1 for a clean word.
    Throughput: one word at a time. Cost: docs/ecc.md.

    Members
    -------
    input : In(stream(Syndromes))
    output : Out(stream(Locator))
    """

    def __init__(self, code: PageCode, sources: int = 1):
        self.code = code
        self.sources = sources
        super().__init__({
            "input": In(stream.Signature(Syndromes(code, sources))),
            "output": Out(stream.Signature(Locator(code, sources))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        field, strength = self.code.field, self.code.strength
        bits = field.bits

        def coefficients(name: str, depth: int):
            m.submodules[name] = cells = memory.Memory(shape=bits, depth=depth, init=[])
            return cells.write_port(), cells.read_port(domain="comb")

        syndrome_in, syndrome = coefficients("syndromes", 2 * strength)
        square_in, half = coefficients("halves", strength)
        locator_in, locator = coefficients("locator", strength + 1)
        before_in, before = coefficients("before", strength + 1)

        r = _Registers(self.code)
        index, iteration, errors = r.index, r.iteration, r.errors
        factor = Signal(bits)
        m.d.comb += factor.eq(Mux(r.updating, r.scale, r.right))
        first = multiply(m, field, r.left, factor)
        second = multiply(m, field, r.right, r.discrepancy)

        # Syndromes of even index are squares of those of half the index.
        next_syndrome = Signal(bits)
        values = Value.cast(self.input.payload.values)
        odd_syndromes = Array(values[bits * number :][:bits] for number in range(strength))
        m.d.comb += [
            half.addr.eq(index >> 1),
            next_syndrome.eq(Mux(index[0], odd_syndromes[index >> 1], square(field, half.data))),
            syndrome_in.addr.eq(index),
            syndrome_in.data.eq(next_syndrome),
            square_in.addr.eq(index),
            square_in.data.eq(next_syndrome),
        ]
        m.d.comb += [
            r.more_errors.eq(2 * iteration + 1 - errors),
            syndrome.addr.eq(2 * iteration + 1 - index),
            locator.addr.eq(index),
            before.addr.eq(index - 1 - r.shift),
            self.output.payload.coefficient.eq(Mux(index <= errors, locator.data, 0)),
            self.output.payload.errors.eq(errors),
        ]

        # Both polynomials start as 1.
        changes = Signal()
        m.d.comb += [
            changes.eq(r.updating & r.multiplying),
            locator_in.en.eq(r.initialise | changes),
            locator_in.addr.eq(Mux(r.initialise, 0, r.place)),
            locator_in.data.eq(Mux(r.initialise, 1, first ^ second)),
            before_in.en.eq(r.initialise | changes & r.grows),
            before_in.addr.eq(Mux(r.initialise, 0, r.place)),
            before_in.data.eq(Mux(r.initialise, 1, r.left)),
        ]

        last_iteration = iteration == strength - 1
        with m.If(r.next_iteration):
            m.d.sync += [iteration.eq(iteration + 1), index.eq(0), r.discrepancy.eq(0)]

        m.d.sync += r.multiplying.eq(0)
        with m.FSM(name="solver"):
            self._take(m, r, values, syndrome_in.en, square_in.en)
            self._compare(m, r, first, locator.data, syndrome.data)
            self._judge(m, r, last_iteration)
            self._change(m, r, locator.data, before.data, last_iteration)
            self._send(m, r)
        return m

    def _take(self, m: Module, r: _Registers, values: Value, store: Value, store_square: Value) -> None:
        """The syndromes of a word; a clean word is reported at once."""
        strength = self.code.strength
        with m.State("IDLE"):
            m.d.sync += [
                r.errors.eq(0), r.longest.eq(0), r.shift.eq(0), r.scale.eq(1), r.iteration.eq(0),
                r.discrepancy.eq(0), r.index.eq(1),
                self.output.payload.source.eq(self.input.payload.source),
                self.output.payload.word.eq(self.input.payload.word),
                self.output.payload.failed.eq(0),
            ]  # fmt: skip
            m.d.comb += r.initialise.eq(1)
            with m.If(self.input.valid):
                with m.If(values.any()):
                    m.next = "TAKE_SYNDROMES"
                with m.Else():
                    m.d.comb += self.input.ready.eq(1)
                    m.next = "REPORT"
        with m.State("TAKE_SYNDROMES"):
            m.d.comb += [store.eq(1), store_square.eq(r.index < strength)]
            m.d.sync += r.index.eq(r.index + 1)
            with m.If(r.index == 2 * strength - 1):
                m.d.comb += self.input.ready.eq(1)
                m.d.sync += r.index.eq(0)
                m.next = "COMPARE"

    def _compare(self, m: Module, r: _Registers, product: Value, locator: Value, syndrome: Value) -> None:
        """The discrepancy, a sum of products."""
        with m.State("COMPARE"):
            m.d.sync += [
                r.left.eq(locator), r.right.eq(syndrome), r.multiplying.eq(1), r.index.eq(r.index + 1),
            ]  # fmt: skip
            with m.If(r.multiplying):
                m.d.sync += r.discrepancy.eq(r.discrepancy ^ product)
            with m.If(r.index == r.errors):
                m.next = "ADD_LAST"
        with m.State("ADD_LAST"):
            m.d.sync += r.discrepancy.eq(r.discrepancy ^ product)
            m.next = "JUDGE"

    def _judge(self, m: Module, r: _Registers, last_iteration: Value) -> None:
        """Whether the locator changes, and whether it grows."""
        with m.State("JUDGE"):
            m.d.sync += [r.grows.eq(r.errors <= r.iteration), r.previous_errors.eq(r.errors)]
            with m.If(r.discrepancy == 0):
                m.d.sync += r.shift.eq(r.shift + 2)
                m.d.comb += r.next_iteration.eq(1)
                m.next = "COMPARE"
                with m.If(last_iteration):
                    m.next = "SEND"
            with m.Elif(r.errors <= r.iteration):
                m.d.sync += [r.errors.eq(r.more_errors), r.index.eq(r.more_errors)]
                m.next = "CHANGE"
                with m.If(r.more_errors > self.code.strength):
                    m.d.sync += self.output.payload.failed.eq(1)
                    m.next = "REPORT"
            with m.Else():
                m.d.sync += r.index.eq(r.errors)
                m.next = "CHANGE"

    def _change(self, m: Module, r: _Registers, locator: Value, before: Value, last_iteration: Value) -> None:
        """The new locator, from its highest coefficient: `before` is written behind where it is read."""
        with m.State("CHANGE"):
            m.d.comb += r.updating.eq(1)
            in_before = (r.index > r.shift) & (r.index <= r.longest + r.shift + 1)
            m.d.sync += [
                r.left.eq(Mux(r.index <= r.previous_errors, locator, 0)),
                r.right.eq(Mux(in_before, before, 0)),
                r.multiplying.eq(1), r.place.eq(r.index), r.index.eq(r.index - 1),
            ]  # fmt: skip
            with m.If(r.index == 0):
                m.next = "CHANGE_LAST"
        with m.State("CHANGE_LAST"):
            m.d.comb += [r.updating.eq(1), r.next_iteration.eq(1)]
            with m.If(r.grows):
                m.d.sync += [r.scale.eq(r.discrepancy), r.longest.eq(r.previous_errors), r.shift.eq(1)]
            with m.Else():
                m.d.sync += r.shift.eq(r.shift + 2)
            m.next = "COMPARE"
            with m.If(last_iteration):
                m.next = "SEND"

    def _send(self, m: Module, r: _Registers) -> None:
        """The coefficients, or of a clean or uncorrectable word one without meaning."""
        with m.State("SEND"):
            m.d.comb += [self.output.valid.eq(1), self.output.payload.last.eq(r.index == self.code.strength)]
            with m.If(self.output.ready):
                m.d.sync += r.index.eq(r.index + 1)
                with m.If(self.output.payload.last):
                    m.next = "IDLE"
        with m.State("REPORT"):
            m.d.comb += [self.output.valid.eq(1), self.output.payload.last.eq(1)]
            with m.If(self.output.ready):
                m.next = "IDLE"
