"""Finite fields GF(2^bits), whose elements are numbers: bit i of one is its coefficient of x^i."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

from .errors import require_range

POLYNOMIALS = {
    4: 0x13, 5: 0x25, 6: 0x43, 7: 0x83, 8: 0x11D, 9: 0x211, 10: 0x409, 11: 0x805, 12: 0x1053, 13: 0x201B,
    14: 0x402B, 15: 0x8003,
}  # fmt: skip
"""A primitive polynomial for each number of bits: those of Linux' BCH library."""


@dataclass(frozen=True)
class GaloisField:
    """GF(2^bits). x, written 2, generates all elements but 0; its order is `order`."""

    bits: int

    def __post_init__(self) -> None:
        require_range("field.bits", self.bits, min(POLYNOMIALS), max(POLYNOMIALS))

    @property
    def polynomial(self) -> int:
        return POLYNOMIALS[self.bits]

    @property
    def order(self) -> int:
        """Of the group of all elements but 0."""
        return (1 << self.bits) - 1

    @cached_property
    def powers(self) -> tuple[int, ...]:
        """x^0 to x^(order - 1)."""
        found, element = [], 1
        for _ in range(self.order):
            found.append(element)
            element <<= 1
            if element >> self.bits:
                element ^= self.polynomial
        return tuple(found)

    @cached_property
    def logarithms(self) -> dict[int, int]:
        """The exponent of x for each element but 0."""
        return {element: exponent for exponent, element in enumerate(self.powers)}

    def power(self, exponent: int) -> int:
        """x^exponent; the exponent may be negative."""
        return self.powers[exponent % self.order]

    def multiply(self, a: int, b: int) -> int:
        if not a or not b:
            return 0
        return self.power(self.logarithms[a] + self.logarithms[b])

    def divide(self, a: int, b: int) -> int:
        """a / b; `ZeroDivisionError` if b is 0."""
        if not b:
            raise ZeroDivisionError(f"division by 0 in GF(2^{self.bits})")
        return self.power(self.logarithms[a] - self.logarithms[b]) if a else 0

    def minimal_polynomial(self, exponent: int) -> int:
        """The smallest polynomial over GF(2) with root x^exponent; bit i is its coefficient of y^i."""
        conjugates = {exponent * 2**square % self.order for square in range(self.bits)}
        coefficients = [1]  # of the product of (y - x^conjugate), lowest first
        for conjugate in conjugates:
            root = self.power(conjugate)
            scaled = [self.multiply(coefficient, root) for coefficient in coefficients]
            coefficients = [low ^ high for low, high in zip([*scaled, 0], [0, *coefficients], strict=True)]
        return sum(coefficient << degree for degree, coefficient in enumerate(coefficients))


def multiply_polynomials(a: int, b: int) -> int:
    """The product of two polynomials over GF(2)."""
    degrees = product(_degrees(a), _degrees(b))
    result = 0
    for one, other in degrees:
        result ^= 1 << one + other
    return result


def _degrees(polynomial: int) -> list[int]:
    return [degree for degree in range(polynomial.bit_length()) if polynomial >> degree & 1]
