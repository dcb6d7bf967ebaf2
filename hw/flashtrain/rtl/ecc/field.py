"""Arithmetic in GF(2^bits), all of it combinational, and linear maps, which most of it is.

Operands are signals or parts of them: each of their bits is used many times.
"""

from collections.abc import Sequence
from functools import reduce
from operator import xor

from amaranth import Cat, Const, Module, Signal, Value

from flashtrain.spec.galois_field import GaloisField


def linear(value: Value, columns: Sequence[int], width: int) -> Value:
    """The sum over GF(2) of the columns, numbers of `width` bits, for which the bit of `value` is set."""
    rows = [
        [value[index] for index, column in enumerate(columns) if column >> number & 1]
        for number in range(width)
    ]
    return Cat(reduce(xor, row) if row else Const(0, 1) for row in rows)


def scale(field: GaloisField, value: Value, exponent: int) -> Value:
    """value · x^exponent."""
    return linear(value, [field.power(bit + exponent) for bit in range(field.bits)], field.bits)


def square(field: GaloisField, value: Value) -> Value:
    """value²."""
    return linear(value, [field.power(2 * bit) for bit in range(field.bits)], field.bits)


def multiply(m: Module, field: GaloisField, a: Value, b: Value) -> Value:
    """a · b: `bits`² products of two bits, and their sums."""
    product = Signal(2 * field.bits - 1)
    for degree in range(len(product)):
        lowest, highest = max(0, degree - field.bits + 1), min(degree, field.bits - 1)
        terms = [a[low] & b[degree - low] for low in range(lowest, highest + 1)]
        m.d.comb += product[degree].eq(reduce(xor, terms))
    return linear(product, [field.power(degree) for degree in range(len(product))], field.bits)
