"""Shifts right and reports lost ones."""

from amaranth import Cat, Const, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class AlignRight(wiring.Component):
    """Puts a value at the upper end of a window and shifts it down. Combinational.

    The small distances come first: while the value is short, a level costs little. Two of these in series,
    the second with the larger powers, form a longer shifter with space for a register between them.

    Members
    -------
    value : In(width)   not wider than the window
    amount : In(len(powers))   in units of 2^powers.start
    output : Out(window)
    lost : Out(1)  a one was shifted out at the lower end
    """

    def __init__(self, width: int, window: int, powers: range):
        self.width = width
        self.window = window
        self.powers = powers
        super().__init__(
            {"value": In(width), "amount": In(len(powers)), "output": Out(window), "lost": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        value, lost = self.value, []
        for power, shift in zip(self.powers, self.amount, strict=True):
            distance = 1 << power
            # The value grows at its lower end until it is as long as the window; from then on it loses bits.
            room = min(distance, self.window - len(value))
            value = Cat(Const(0, room), value)
            lost.append(shift & value[:distance].any())
            value = Mux(shift, value.shift_right(distance), value)
        m.d.comb += [
            self.output.eq(Cat(Const(0, self.window - len(value)), value)),
            self.lost.eq(Cat(*lost).any()),
        ]
        return m
