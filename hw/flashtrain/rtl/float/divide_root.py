"""Division and square root."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.data import View

from flashtrain.rtl.float.formats import FLOAT32, SPECIAL
from flashtrain.rtl.float.normalise import distances, normalise
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.recurrence import DIGITS, HOLD_BITS, PRECISION, Recurrence, cycles_for
from flashtrain.rtl.float.unit import ROUND_STEPS, FloatUnit
from flashtrain.rtl.float.unpack import Unpack

EXPONENT_BITS = 9
"""Of a quotient: at most 254 + 22 + 127; smaller ones than 1 become 1 and zeros before the first bit."""

COMPANIONS = data.StructLayout({"sign": 1, "exponent": EXPONENT_BITS, "special": SPECIAL})
"""The companions of a result while its digits are computed."""

FOUND = data.StructLayout({"digits": DIGITS + 1, "companions": COMPANIONS})


class DivideRoot(FloatUnit):
    """a / b, or √a, on the same subtractors.

    Operands are normalised, pass a `Recurrence`, and the result is rounded. Where one recurrence is too slow,
    several take turns.

    Members
    -------
    a, b : In(32)   b is not used for roots
    root : In(1)   √a, not a / b
    start : In(1)   the operands are valid; not again for `interval` cycles
    enable, result : see `FloatUnit`; the result is valid in its cycle only

    Cost with 8 stages: 653 LUT4, 80 CCU2C, 619 FF at 144 MHz for one bit per cycle (a result in 27 cycles);
    1563 LUT4, 160 CCU2C, 1134 FF at 137 MHz for five such recurrences (6 cycles); 1871 LUT4, 162 CCU2C,
    841 FF at 91 MHz for three recurrences of two bits (5 cycles).

    Attributes
    ----------
    bits : int
        Result bits decided per cycle in each recurrence.
    recurrences : int
    stages : int
        Registers beside those of the recurrence, whose place is `loaded`.
    latency : int
        `stages` + 1 for loading + the cycles of the recurrence, 26 / `bits` rounded up.
    interval : int
        Cycles with `enable` from one start to the next, at least: the last two of these divided by
        `recurrences`, rounded up.
    """

    STEPS = {
        "unpacked": 3.0,
        "coarse": 4.5,
        "normalised": 4.5,
        "compared": 4.0,
        "prepared": 5.0,
        "loaded": 5.0,
        "found": 4.0,
        **ROUND_STEPS,
    }
    OWN_REGISTERS = ("loaded",)

    def __init__(self, bits: int = 1, recurrences: int = 1, stages: int = 3):
        self.bits = bits
        self.recurrences = recurrences
        self._cycles = cycles_for(bits)
        super().__init__({"a": 32, "b": 32, "root": 1, "start": 1}, stages)

    @property
    def latency(self) -> int:
        return self.stages + 1 + self._cycles

    @property
    def interval(self) -> int:
        return -(-(1 + self._cycles) // self.recurrences)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unpack_a = unpack_a = Unpack(FLOAT32)
        m.submodules.unpack_b = unpack_b = Unpack(FLOAT32)
        m.d.comb += [unpack_a.bits.eq(self.a), unpack_b.bits.eq(self.b)]
        pipe = Pipeline(m, self.enable, self.stages, self.STEPS, self.OWN_REGISTERS)
        a, b = unpack_a.number, unpack_b.number
        pipe.start, pipe.root = self.start, self.root
        pipe.special = self._special(m, a, b)
        pipe.sign = a.sign ^ (b.sign & ~self.root)
        pipe.a, pipe.b = a, b
        pipe.cut("unpacked")

        coarse, fine = distances(PRECISION)[:2], distances(PRECISION)[2:]
        pipe.a_significand, pipe.a_shift = normalise(m, pipe.a.significand, PRECISION, "coarse_a", coarse)
        pipe.b_significand, pipe.b_shift = normalise(m, pipe.b.significand, PRECISION, "coarse_b", coarse)
        pipe.cut("coarse")

        pipe.a_significand, a_shift = normalise(m, pipe.a_significand, PRECISION, "fine_a", fine)
        pipe.b_significand, b_shift = normalise(m, pipe.b_significand, PRECISION, "fine_b", fine)
        pipe.a_shift, pipe.b_shift = Cat(a_shift, pipe.a_shift), Cat(b_shift, pipe.b_shift)
        pipe.cut("normalised")

        # The quotient's first bit has weight 1 when the dividend is doubled where it is smaller. The radicand
        # is doubled where its exponent is odd (and the biased one even).
        pipe.a_exponent = (pipe.a.exponent - pipe.a_shift).as_signed()
        pipe.b_exponent = (pipe.b.exponent - pipe.b_shift).as_signed()
        pipe.smaller = pipe.a_significand < pipe.b_significand
        pipe.cut("compared")

        double = Mux(pipe.root, ~pipe.a_exponent[0], pipe.smaller)
        pipe.dividend = Mux(double, pipe.a_significand.shift_left(1), pipe.a_significand)
        quotient_exponent = pipe.a_exponent - pipe.b_exponent + (FLOAT32.bias - pipe.smaller)
        root_exponent = (pipe.a_exponent + FLOAT32.bias).shift_right(1)
        exponent = Signal(signed(EXPONENT_BITS + 1))
        m.d.comb += exponent.eq(Mux(pipe.root, root_exponent, quotient_exponent))
        pipe.exponent = exponent
        pipe.cut("prepared")

        # By bits, not by comparisons, each of which would be a subtractor behind this one.
        missing = Signal(signed(EXPONENT_BITS + 2))
        normal, far = missing[-1], missing[HOLD_BITS:-1].any()
        hold = Signal(HOLD_BITS)
        companions = Signal(COMPANIONS)
        m.d.comb += [
            missing.eq(1 - pipe.exponent),
            hold.eq(Mux(normal, 0, missing[:HOLD_BITS] | far.replicate(HOLD_BITS))),
            companions.sign.eq(pipe.sign),
            companions.exponent.eq(Mux(normal, pipe.exponent, 1)),
            companions.special.eq(pipe.special),
        ]
        found = self._recurrences(m, pipe, hold, companions)
        pipe.cut("loaded")

        pipe.significand = found.digits
        pipe.sign, pipe.exponent = found.companions.sign, found.companions.exponent
        pipe.special = found.companions.special
        pipe.cut("found")
        self._round(m, pipe, EXPONENT_BITS)
        return m

    def _special(self, m: Module, a: View, b: View) -> View:
        special, negative, invalid, nan = Signal(SPECIAL), Signal(), Signal(), Signal()
        m.d.comb += negative.eq(a.sign & ~a.zero & ~a.nan)
        with m.If(self.root):
            m.d.comb += [
                invalid.eq(a.signalling | negative),
                nan.eq(a.nan | negative),
                special.infinite.eq(a.infinite),
                special.zero.eq(a.zero),
            ]
        with m.Else():
            m.d.comb += [
                invalid.eq(a.signalling | b.signalling | a.infinite & b.infinite | a.zero & b.zero),
                nan.eq(a.nan | b.nan | invalid),
                special.infinite.eq(a.infinite | b.zero),
                special.zero.eq((a.zero | b.infinite) & ~nan),
                special.division_by_zero.eq(b.zero & ~(a.zero | a.infinite | a.nan)),
            ]
        m.d.comb += [special.invalid.eq(invalid), special.nan.eq(nan)]
        return special

    def _recurrences(self, m: Module, pipe: Pipeline, hold: Signal, companions: View) -> View:
        """The recurrences, loaded in turn, and what the one that is done has found."""
        turn = Signal(range(self.recurrences))
        with m.If(self.enable & pipe.start):
            m.d.sync += turn.eq(Mux(turn == self.recurrences - 1, 0, turn + 1))
        found = []
        for number in range(self.recurrences):
            m.submodules[f"recurrence_{number}"] = recurrence = Recurrence(self.bits)
            kept = Signal(COMPANIONS, name=f"companions_{number}")
            m.d.comb += [
                recurrence.enable.eq(self.enable),
                recurrence.load.eq(pipe.start & (turn == number)),
                recurrence.root.eq(pipe.root),
                recurrence.dividend.eq(pipe.dividend),
                recurrence.divisor.eq(pipe.b_significand),
                recurrence.hold.eq(hold),
            ]
            with m.If(self.enable & recurrence.load):
                m.d.sync += kept.eq(companions)
            result = Cat(recurrence.digits, kept)
            found.append(result & recurrence.done.replicate(len(result)))
        return View(FOUND, reduce(or_, found))
