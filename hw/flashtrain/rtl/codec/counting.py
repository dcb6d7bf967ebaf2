"""Counts of set bits in look-up tables: adders of so few bits would take carry chains."""

from amaranth import Cat, Value

QUAD = 4


def count_of_quad(bits: Value) -> Value:
    """The number of set bits among `QUAD`; a table of four inputs per bit of it."""
    pairs = Cat(bits[high] & bits[:high].any() for high in range(1, QUAD))
    return Cat(bits.xor(), pairs.any() & ~bits.all(), bits.all())
