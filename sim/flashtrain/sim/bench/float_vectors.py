"""Operands that float units find difficult, as bits of float32: a list of directed values, and random ones.

Random operands are a mixture of kinds, each of which meets another part of a unit: all bits uniform;
fractions with long runs of equal bits (halfway cases, carries); exponents near each other (alignment,
cancellation); results near the subnormal range; a directed value among random ones.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Random = np.random.Generator

_SIGN = np.uint32(1 << 31)

POSITIVE = (
    # Zero, the ends of the subnormal range, the smallest normal numbers.
    *(0x0000_0000, 0x0000_0001, 0x0000_0002, 0x0000_0003, 0x0040_0000, 0x007F_FFFE, 0x007F_FFFF),
    *(0x0080_0000, 0x0080_0001, 0x0080_0002, 0x00FF_FFFF, 0x0100_0000, 0x0100_0001),
    # 2^-64, 2^-63, 2^-25, 2^-24, 2^-23 and neighbours: products in the subnormal range, halves of units.
    *(0x1F80_0000, 0x1FFF_FFFF, 0x2000_0000, 0x3300_0000, 0x3300_0001, 0x337F_FFFF, 0x3380_0000, 0x3380_0001),
    *(0x33FF_FFFF, 0x3400_0000, 0x3400_0001),
    # Around 1/2, 1, 3/2, 2, 3.
    *(0x3EFF_FFFF, 0x3F00_0000, 0x3F00_0001, 0x3F7F_FFFE, 0x3F7F_FFFF, 0x3F80_0000, 0x3F80_0001, 0x3F80_0002),
    *(0x3FC0_0000, 0x3FFF_FFFF, 0x4000_0000, 0x4000_0001, 0x4040_0000),
    # 2^23, 2^24, 2^25 - 2, 2^63, 2^64: the largest shifts, products that overflow.
    *(0x4B00_0000, 0x4B80_0000, 0x4BFF_FFFF, 0x5F00_0000, 0x5F7F_FFFF, 0x5F80_0000),
    # The largest numbers, infinity, quiet and signalling NaNs.
    *(0x7EFF_FFFF, 0x7F00_0000, 0x7F7F_FFFE, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0x7FA0_0000, 0x7FBF_FFFF),
    *(0x7FC0_0000, 0x7FC0_0001, 0x7FFF_FFFF),
)

DIRECTED: Bits = np.array([*POSITIVE, *(bits | 1 << 31 for bits in POSITIVE)], np.uint32)
"""Values worth trying in every combination."""

NARROWING: Bits = np.array(
    [sign | bits + ulps
     for sign in (0, 1 << 31)
     for ulps in (-1, 0, 1)
     for bits in (
         # Ties of BF16 at both parities, the one that overflows, and those of its smallest subnormals.
         0x3F80_8000, 0x3F81_8000, 0x7F7F_8000, 0x7F7F_0000, 0x0000_8000, 0x0001_8000, 0x007F_8000,
         # FP16: ties at both parities, the largest, the one that overflows, smallest normal and subnormal.
         0x3F80_1000, 0x3F80_3000, 0x477F_E000, 0x477F_F000, 0x3880_0000, 0x387F_C000, 0x387F_E000,
         0x387F_F000, 0x3380_0000, 0x3300_0000, 0x33C0_0000, 0x3400_0000, 0x3420_0000,
     )],
    np.uint32,
)  # fmt: skip
"""Values where conversions to FP16 and BF16 round one way or the other, become subnormal, or overflow."""


def directed(operands: int) -> tuple[Bits, ...]:
    """Every combination of `operands` values of `DIRECTED`, as so many columns."""
    return tuple(grid.reshape(-1) for grid in np.meshgrid(*[DIRECTED] * operands, indexing="ij"))


def values(random: Random, count: int) -> Bits:
    """Single operands, without regard to others."""
    return _mixture(random, count, (_uniform, _plain, _runs, _any_directed, _rounded_squares), 1)[0]


def pairs(random: Random, count: int) -> tuple[Bits, Bits]:
    """Two operands, for addition, multiplication and division."""
    kinds = (
        _uniform,
        _runs,
        _plain,
        _near_exponents,
        _near_opposites,
        _one_directed,
        _near_underflow,
        _quotients,
    )
    a, b = _mixture(random, count, kinds, 2)
    return a, b


def triples(random: Random, count: int) -> tuple[Bits, Bits, Bits]:
    """Three operands, for `a * b + c`."""
    kinds = (_uniform, _runs, _plain, _addend_near_product, _product_cancels, _one_directed, _near_underflow)
    a, b, c = _mixture(random, count, kinds, 3)
    return a, b, c


Kind = Callable[[Random, int, int], list[Bits]]


def _mixture(random: Random, count: int, kinds: tuple[Kind, ...], operands: int) -> list[Bits]:
    """`count` rows of `operands`, equally many of each kind, in random order."""
    each = -(-count // len(kinds))
    columns = zip(*(kind(random, each, operands) for kind in kinds), strict=True)
    order = random.permutation(each * len(kinds))[:count]
    return [np.concatenate(column)[order] for column in columns]


def _pack(sign: NDArray[np.integer], exponent: NDArray[np.integer], fraction: NDArray[np.integer]) -> Bits:
    biased = np.clip(exponent, 0, 255)
    return (np.asarray(sign) << 31 | biased << 23 | fraction).astype(np.uint32)


def _floats(bits: Bits) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return bits.view(np.float32).astype(np.float64)


def _nearest(numbers: NDArray[np.float64]) -> Bits:
    with np.errstate(all="ignore"):
        return numbers.astype(np.float32).view(np.uint32)


def _signs(random: Random, count: int) -> NDArray[np.int64]:
    return random.integers(0, 2, count)


def _fractions(random: Random, count: int) -> NDArray[np.int64]:
    """Half of them uniform, half of them a run of ones between runs of zeros, or its complement, ± 1."""
    uniform = random.integers(0, 1 << 23, count)
    low, high = random.integers(0, 24, count), random.integers(0, 24, count)
    runs = ((1 << high) - (1 << low)) ^ -random.integers(0, 2, count)
    runs += random.integers(-1, 2, count)
    return np.where(random.integers(0, 2, count) == 1, uniform, runs & (1 << 23) - 1)


def _moved(random: Random, bits: Bits, ulps: int) -> Bits:
    return (bits.astype(np.int64) + random.integers(-ulps, ulps + 1, len(bits))).astype(np.uint32)


def _uniform(random: Random, count: int, operands: int) -> list[Bits]:
    return [random.integers(0, 1 << 32, count, np.uint32) for _ in range(operands)]


def _runs(random: Random, count: int, operands: int) -> list[Bits]:
    return [
        _pack(_signs(random, count), random.integers(0, 256, count), _fractions(random, count))
        for _ in range(operands)
    ]


def _plain(random: Random, count: int, operands: int) -> list[Bits]:
    """Magnitudes as they occur: around 1, a few powers of two up and down."""
    return [
        _pack(_signs(random, count), random.integers(120, 136, count), _fractions(random, count))
        for _ in range(operands)
    ]


def _any_directed(random: Random, count: int, operands: int) -> list[Bits]:
    return [random.choice(np.concatenate([DIRECTED, NARROWING]), count) for _ in range(operands)]


def _one_directed(random: Random, count: int, operands: int) -> list[Bits]:
    columns = _runs(random, count, operands)
    chosen = random.integers(0, operands, count)
    special = random.choice(DIRECTED, count)
    return [np.where(chosen == number, special, column) for number, column in enumerate(columns)]


def _near_exponents(random: Random, count: int, operands: int) -> list[Bits]:
    middle = random.integers(0, 256, count)
    return [
        _pack(_signs(random, count), middle + random.integers(-14, 15, count), _fractions(random, count))
        for _ in range(operands)
    ]


def _near_opposites(random: Random, count: int, operands: int) -> list[Bits]:
    a = _runs(random, count, 1)[0]
    return [a, _moved(random, a, 3) ^ _SIGN]


def _near_underflow(random: Random, count: int, operands: int) -> list[Bits]:
    """Products and sums of products within the subnormal range, or quotients there."""
    columns = [_runs(random, count, 1)[0] for _ in range(operands)]
    exponent = columns[0] >> 23 & 0xFF
    target = random.integers(-26, 4, count)
    product = _signs(random, count) == 1
    partner = np.where(product, 127 + target - exponent, exponent + 127 - target)
    columns[1] = _pack(_signs(random, count), partner, _fractions(random, count))
    if operands == 3:
        columns[2] = _pack(_signs(random, count), random.integers(0, 30, count), _fractions(random, count))
    return columns


def _addend_near_product(random: Random, count: int, operands: int) -> list[Bits]:
    """The addend anywhere from far above the product to far below."""
    a, b = (
        _pack(_signs(random, count), random.integers(50, 205, count), _fractions(random, count))
        for _ in range(2)
    )
    exponent = (a >> 23 & 0xFF).astype(np.int64) + (b >> 23 & 0xFF) - 127 + random.integers(-52, 53, count)
    return [a, b, _pack(_signs(random, count), exponent, _fractions(random, count))]


def _product_cancels(random: Random, count: int, operands: int) -> list[Bits]:
    """The addend is the product, rounded, with the other sign, or a few units beside it."""
    a = _pack(_signs(random, count), random.integers(0, 255, count), _fractions(random, count))
    total = random.integers(100, 300, count)  # exponents of products from the subnormal range upwards
    b = _pack(_signs(random, count), total - (a >> 23 & 0xFF), _fractions(random, count))
    with np.errstate(all="ignore"):
        return [a, b, _moved(random, _nearest(-_floats(a) * _floats(b)), 2)]


def _quotients(random: Random, count: int, operands: int) -> list[Bits]:
    """Dividends that make the quotient, or half a unit beside it, almost a float32."""
    b = _pack(_signs(random, count), random.integers(1, 255, count), _fractions(random, count))
    quotient = _pack(_signs(random, count), random.integers(110, 140, count), _fractions(random, count))
    half = random.integers(-1, 2, count) * 2.0**-24
    with np.errstate(all="ignore"):
        return [_nearest(_floats(quotient) * (1 + half) * _floats(b)), b]


def _rounded_squares(random: Random, count: int, operands: int) -> list[Bits]:
    """Numbers whose square root, or half a unit beside it, is almost a float32."""
    root = _floats(
        _pack(np.zeros(count, np.int64), random.integers(52, 202, count), _fractions(random, count))
    )
    return [_nearest((root * (1 + random.integers(-1, 2, count) * 2.0**-24)) ** 2)]
