"""Dwords and their lanes in rows of the host's memory."""

from amaranth import Cat, Module, Mux, Signal

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import REQUEST_BYTES

from .layouts import DWORD_BITS, LENGTH_BITS

DWORD_SHIFT = 2
"""From bytes to dwords."""


class RowSplit:
    """Rows of a segment, one after the other: the first lane of each, its dwords, and whether it is the last.

    `lane`, `length` : of the segment, in dwords, from its first row on. `takes` : the row is taken.
    """

    def __init__(self, m: Module, lane, length, takes, port_bytes: int):
        dwords = port_bytes // 4
        self.lane, self.count, self.ends = Signal(range(dwords)), Signal(range(dwords + 1)), Signal()
        if port_bytes == REQUEST_BYTES:
            m.d.comb += [self.lane.eq(lane), self.count.eq(length), self.ends.eq(1)]
            return
        gone, left = Signal(LENGTH_BITS), Signal(LENGTH_BITS)
        room = Signal(range(dwords + 1))
        m.d.comb += [
            self.lane.eq(Mux(gone == 0, lane, 0)),
            left.eq(length - gone),
            room.eq(dwords - self.lane),
            self.ends.eq(left <= room),
            self.count.eq(Mux(self.ends, left, room)),
        ]
        with m.If(takes):
            m.d.sync += gone.eq(Mux(self.ends, 0, gone + self.count))


def rotated(row, count):
    """Each dword `count` lanes higher, round the end of the row."""
    for bit in range(bits_for(len(row) // DWORD_BITS)):
        shift = DWORD_BITS << bit
        row = Mux(count[bit], Cat(row[-shift:], row[:-shift]), row)
    return row


def merged(low, high, lane):
    """`low` in the lanes below `lane`, and `high` in the others."""
    dwords = len(low) // DWORD_BITS
    return Cat(
        Mux(number < lane, low.word_select(number, DWORD_BITS), high.word_select(number, DWORD_BITS))
        for number in range(dwords)
    )
