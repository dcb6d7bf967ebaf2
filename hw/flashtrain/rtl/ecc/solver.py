"""Where the errors of a code word are, as the roots of a polynomial."""

from amaranth import Array, Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import PageCode

from .field import multiply, square
from .layouts import Locator, Syndromes


class KeySolver(wiring.Component):
    """Solves the key equation: syndromes in, the coefficients of the error locator out.

    Berlekamp and Massey's algorithm without division, in the form for binary codes: `strength` iterations, of
    which each makes the locator right for one odd syndrome more. A clock takes one coefficient, with two
    multipliers; no more coefficients are looked at than there are errors so far.

        discrepancy = sum of locator[k] · syndrome[2 i + 1 - k]
        locator     = scale · locator + discrepancy · x · before
        before      = x · locator as it was, if that made the locator longer, otherwise x² · before
        scale       = the discrepancy, likewise

    Nothing is done where the discrepancy is 0: the locator is right up to a factor. Coefficients lie in small
    memories, `before` `shift` places lower than it is.

    Latency, of a word with v errors, until its last coefficient: 3 `strength` + 1 clocks for syndromes and
    coefficients; v + 3 in each iteration, and v + 2 more in those that find an error, where v counts those
    found. With strength 13: 91 clocks for one error, 275 for 13, 1 for a clean word.
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

        errors, iteration = Signal(range(2 * strength)), Signal(range(strength))
        longest = Signal(range(strength + 1))  # coefficients of `before` end here, where they lie
        shift = Signal(range(2 * strength + 2))
        scale, discrepancy = Signal(bits), Signal(bits)
        index = Signal(range(2 * strength))  # of a syndrome or a coefficient
        left, right = Signal(bits), Signal(bits)  # coefficients at the multipliers, a clock later
        at_work, place = Signal(), Signal(range(strength + 1))

        grows, more_errors = Signal(), Signal(range(2 * strength))
        before_errors = Signal.like(errors)
        updating = Signal()
        factor = Signal(bits)
        m.d.comb += factor.eq(Mux(updating, scale, right))
        first = multiply(m, field, left, factor)
        second = multiply(m, field, right, discrepancy)

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
            more_errors.eq(2 * iteration + 1 - errors),
            syndrome.addr.eq(2 * iteration + 1 - index),
            locator.addr.eq(index),
            before.addr.eq(index - 1 - shift),
            self.output.payload.coefficient.eq(Mux(index <= errors, locator.data, 0)),
            self.output.payload.errors.eq(errors),
        ]

        # Both polynomials begin as 1.
        begins, changes = Signal(), Signal()
        m.d.comb += [
            changes.eq(updating & at_work),
            locator_in.en.eq(begins | changes),
            locator_in.addr.eq(Mux(begins, 0, place)),
            locator_in.data.eq(Mux(begins, 1, first ^ second)),
            before_in.en.eq(begins | changes & grows),
            before_in.addr.eq(Mux(begins, 0, place)),
            before_in.data.eq(Mux(begins, 1, left)),
        ]

        next_iteration = Signal()
        last_iteration = iteration == strength - 1
        with m.If(next_iteration):
            m.d.sync += [iteration.eq(iteration + 1), index.eq(0), discrepancy.eq(0)]

        m.d.sync += at_work.eq(0)
        with m.FSM(name="solver"):
            with m.State("WAIT"):
                m.d.sync += [
                    errors.eq(0), longest.eq(0), shift.eq(0), scale.eq(1), iteration.eq(0), discrepancy.eq(0),
                    index.eq(1),
                    self.output.payload.source.eq(self.input.payload.source),
                    self.output.payload.word.eq(self.input.payload.word),
                    self.output.payload.failed.eq(0),
                ]  # fmt: skip
                m.d.comb += begins.eq(1)
                with m.If(self.input.valid):
                    with m.If(values.any()):
                        m.next = "TAKE SYNDROMES"
                    with m.Else():
                        m.d.comb += self.input.ready.eq(1)
                        m.next = "SAY WHAT IT IS"
            with m.State("TAKE SYNDROMES"):
                m.d.comb += [syndrome_in.en.eq(1), square_in.en.eq(index < strength)]
                m.d.sync += index.eq(index + 1)
                with m.If(index == 2 * strength - 1):
                    m.d.comb += self.input.ready.eq(1)
                    m.d.sync += index.eq(0)
                    m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += [
                    left.eq(locator.data), right.eq(syndrome.data), at_work.eq(1), index.eq(index + 1),
                ]  # fmt: skip
                with m.If(at_work):
                    m.d.sync += discrepancy.eq(discrepancy ^ first)
                with m.If(index == errors):
                    m.next = "ADD THE LAST"
            with m.State("ADD THE LAST"):
                m.d.sync += discrepancy.eq(discrepancy ^ first)
                m.next = "JUDGE"
            with m.State("JUDGE"):
                m.d.sync += [grows.eq(errors <= iteration), before_errors.eq(errors)]
                with m.If(discrepancy == 0):
                    m.d.sync += shift.eq(shift + 2)
                    m.d.comb += next_iteration.eq(1)
                    m.next = "COMPARE"
                    with m.If(last_iteration):
                        m.next = "SEND"
                with m.Elif(errors <= iteration):
                    m.d.sync += [errors.eq(more_errors), index.eq(more_errors)]
                    m.next = "CHANGE"
                    with m.If(more_errors > strength):
                        m.d.sync += self.output.payload.failed.eq(1)
                        m.next = "SAY WHAT IT IS"
                with m.Else():
                    m.d.sync += index.eq(errors)
                    m.next = "CHANGE"
            with m.State("CHANGE"):
                m.d.comb += updating.eq(1)
                # From the highest on: `before` is written behind where it is read.
                there = (index > shift) & (index <= longest + shift + 1)
                m.d.sync += [
                    left.eq(Mux(index <= before_errors, locator.data, 0)),
                    right.eq(Mux(there, before.data, 0)),
                    at_work.eq(1), place.eq(index), index.eq(index - 1),
                ]  # fmt: skip
                with m.If(index == 0):
                    m.next = "CHANGE THE LAST"
            with m.State("CHANGE THE LAST"):
                m.d.comb += [updating.eq(1), next_iteration.eq(1)]
                with m.If(grows):
                    m.d.sync += [scale.eq(discrepancy), longest.eq(before_errors), shift.eq(1)]
                with m.Else():
                    m.d.sync += shift.eq(shift + 2)
                m.next = "COMPARE"
                with m.If(last_iteration):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += [self.output.valid.eq(1), self.output.payload.last.eq(index == strength)]
                with m.If(self.output.ready):
                    m.d.sync += index.eq(index + 1)
                    with m.If(self.output.payload.last):
                        m.next = "WAIT"
            with m.State("SAY WHAT IT IS"):
                m.d.comb += [self.output.valid.eq(1), self.output.payload.last.eq(1)]
                with m.If(self.output.ready):
                    m.next = "WAIT"
        return m
