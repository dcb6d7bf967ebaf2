"""A chain of registers with an enable."""

from collections.abc import Collection
from itertools import pairwise

from amaranth import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

SHORTEST_RING = 5
"""Registers in a row, of which only the last is read, that a memory takes the place of."""
RING_COST = 60
"""Of a memory of 32 bits and its counter, in look-up tables."""
REGISTER_COST = 8
"""Of a register of 32 bits: flip-flops come with the look-up tables, mostly."""


def chain_cost(depths: Collection[int]) -> int:
    """The cost of a chain whose registers `depths` are read, in look-up tables."""
    ordered = [0, *sorted(depths)]
    gaps = [after - before for before, after in pairwise(ordered)]
    return sum(REGISTER_COST + RING_COST if gap > SHORTEST_RING else gap * REGISTER_COST for gap in gaps)


class DelayChain(wiring.Component):
    """Register 1 takes `value` when `step` is high, register n + 1 what was in register n.

    A memory replaces a long run of registers of which only the last is read. It is written and read once a
    step, at an address that wraps around.

    Members
    -------
    value : In(width)
    step : In(1)
    stored_1, stored_4, ... : Out(width)   the registers numbered `depths`
    """

    def __init__(self, width: int, depths: Collection[int]):
        self.width = width
        self.depths = tuple(sorted(depths))
        outputs = {f"stored_{depth}": Out(width) for depth in self.depths}
        super().__init__({"value": In(width), "step": In(1), **outputs})

    def stored(self, depth: int):
        """The output of one register."""
        return getattr(self, f"stored_{depth}")

    def elaborate(self, platform):
        m = Module()
        before, value = 0, self.value
        for depth in self.depths:
            gap = depth - before
            if gap > SHORTEST_RING:
                value = self._ring(m, f"ring_{depth}", value, gap - 1)
                gap = 0
            for number in range(before + 1, before + gap + 1):
                register = Signal(self.width, name=f"register_{number}", reset_less=True)
                with m.If(self.step):
                    m.d.sync += register.eq(value)
                value = register
            m.d.comb += self.stored(depth).eq(value)
            before = depth
        return m

    def _ring(self, m: Module, name: str, value, depth: int):
        """A memory of `depth` words, and the register at its output."""
        m.submodules[name] = ring = memory.Memory(shape=self.width, depth=depth, init=[])
        write, read = ring.write_port(), ring.read_port()
        address = Signal(range(depth), name=f"{name}_address")
        m.d.comb += [
            *(write.addr.eq(address), write.data.eq(value), write.en.eq(self.step)),
            *(read.addr.eq(address), read.en.eq(self.step)),
        ]
        with m.If(self.step):
            m.d.sync += address.eq(address + 1)
            with m.If(address == depth - 1):
                m.d.sync += address.eq(0)
        return read.data
