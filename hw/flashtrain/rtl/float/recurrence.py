"""Quotients and square roots, a few bits per cycle."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import EXTRA_BITS, FLOAT32

PRECISION = FLOAT32.precision
DIGITS = PRECISION + EXTRA_BITS - 1
"""Bits of the result that must be known, the first of weight 1; the remainder decides about the rest."""
HOLD_BITS = 5
"""Of the number of zeros before the first bit: 31 are more than the digits."""


def cycles_for(bits: int) -> int:
    """Cycles of a result when `bits` of it are decided per cycle."""
    return -(-DIGITS // bits)


class Recurrence(wiring.Component):
    """Restoring recurrence of radix 2: the next bit is 1 if its subtrahend fits into the remainder.

    The scaled remainder R starts as dividend, or radicand. Bit i of the result, Q, is decided by
    R - D for a quotient, by R - (2 Q + 2^-i) for a square root; either way R is doubled after that.
    Operands and result are in [1, 2), but for the radicand in [1, 4) and the dividend in [D, 2 D).

    A quotient below the smallest normal number must be shifted right. It gets as many zeros before its first
    bit: in each of these steps only the place of the next bit changes.

    Members
    -------
    enable : In(1)
    load : In(1)   begin with the operands of this cycle
    root : In(1)   a square root, not a quotient
    dividend : In(PRECISION + 1)   or radicand; as PRECISION - 1 bits are behind the point
    divisor : In(PRECISION)   not for roots
    hold : In(HOLD_BITS)   zeros before the first bit; 0 for roots
    done : Out(1)   the result is valid in this cycle: `cycles` + 1 after `load`
    digits : Out(DIGITS + 1)   of the result, the last bit stands for everything behind it

    `bits` are decided per cycle. Throughput: one result in `cycles` + 1 cycles.
    """

    def __init__(self, bits: int):
        if not 1 <= bits <= DIGITS:
            raise ValueError(f"Recurrence: {bits} bits per cycle, expected 1 to {DIGITS}")
        self.bits = bits
        self.cycles = cycles_for(bits)
        super().__init__(
            {
                "enable": In(1),
                "load": In(1),
                "root": In(1),
                "dividend": In(PRECISION + 1),
                "divisor": In(PRECISION),
                "hold": In(HOLD_BITS),
                "done": Out(1),
                "digits": Out(DIGITS + 1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places = self.cycles * self.bits
        # All have `places` - 1 bits behind the point; before it Q has one, the subtrahend two, R three.
        behind = places - PRECISION
        root = Signal()
        remainder, subtrahend, result = Signal(places + 2), Signal(places + 1), Signal(places)
        hold = Signal(HOLD_BITS)
        turn = Signal(self.cycles + 1)  # one-hot: which bits are next; the last one: all done

        next_remainder, next_subtrahend, next_result = remainder, subtrahend, result
        for step in range(self.bits):
            # One-hot: the place of this bit, counted down from the first one.
            place = Cat(
                *(turn[number // self.bits] if number % self.bits == step else 0 for number in range(places))
            )[::-1]
            difference = Signal(places + 3, name=f"difference_{step}")
            held, fits = Signal(name=f"held_{step}"), Signal(name=f"fits_{step}")
            remaining = Signal(places + 2, name=f"remainder_{step}")
            m.d.comb += [
                difference.eq(next_remainder - next_subtrahend),
                held.eq(hold > step),
                fits.eq(~difference[-1] & ~held),
                remaining.eq(
                    Mux(
                        held,
                        next_remainder,
                        Mux(fits, difference[:-1], next_remainder).shift_left(1),
                    )
                ),
            ]
            next_remainder = remaining
            next_result = next_result | (place & fits.replicate(places))
            # From 2 Q + 2^-i to 2 (Q + bit 2^-i) + 2^-(i+1).
            moves = Signal(places + 1, name=f"moves_{step}")
            m.d.comb += moves.eq(place & root.replicate(places))
            next_subtrahend = (
                next_subtrahend & ~moves
                | moves.shift_right(1)
                | (moves & fits.replicate(places + 1)).shift_left(1)
            )

        with m.If(self.enable):
            m.d.sync += [
                turn.eq(Cat(Const(0, 1), turn[:-1])),
                remainder.eq(next_remainder),
                subtrahend.eq(next_subtrahend),
                result.eq(next_result),
                hold.eq(Mux(hold > self.bits, hold - self.bits, 0)),
            ]
            with m.If(self.load):
                one = Const(1 << PRECISION - 1, PRECISION)
                m.d.sync += [
                    turn.eq(1),
                    remainder.eq(Cat(Const(0, behind), self.dividend)),
                    subtrahend.eq(Cat(Const(0, behind), Mux(self.root, one, self.divisor))),
                    result.eq(0),
                    hold.eq(self.hold),
                    root.eq(self.root),
                ]
        spare = places - DIGITS
        m.d.comb += [
            self.done.eq(turn[-1]),
            self.digits.eq(Cat(remainder.any() | result[:spare].any(), result[spare:])),
        ]
        return m
