"""Slots in the order of their age."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for


class AgeOrder(wiring.Component):
    """A list of `count` numbers, each in it once; any of them can be made the youngest.

    `slot` is combinational in `position`; the list changes in the clock after `renew`. It can be looked at in
    two places.

    Members
    -------
    position : In(range(count))   0 is the oldest
    slot : Out(range(count))      the number that stands there
    other_position : In(range(count)), other_slot : Out(range(count))   the same
    renew : In(1)                 makes `renewed` the youngest; those behind it move up
    renewed : In(range(count))
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "position": In(range(count)),
            "slot": Out(range(count)),
            "other_position": In(range(count)),
            "other_slot": Out(range(count)),
            "renew": In(1),
            "renewed": In(range(count)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        slots = Signal(data.ArrayLayout(bits_for(self.count), self.count), init=list(range(self.count)))
        m.d.comb += [self.slot.eq(slots[self.position]), self.other_slot.eq(slots[self.other_position])]
        is_renewed, moves = Signal(self.count), Signal(self.count)
        for index in range(self.count):
            m.d.comb += is_renewed[index].eq(slots[index] == self.renewed)
            # Each number is in the list once: the shorter half tells.
            in_front = is_renewed[: index + 1].any()
            if index >= self.count // 2:
                in_front = ~is_renewed[index + 1 :].any()
            m.d.comb += moves[index].eq(self.renew & in_front)
        for index in range(self.count - 1):
            with m.If(moves[index]):
                m.d.sync += slots[index].eq(slots[index + 1])
        with m.If(self.renew):
            m.d.sync += slots[self.count - 1].eq(self.renewed)
        return m
