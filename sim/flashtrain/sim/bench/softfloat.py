"""Berkeley SoftFloat as the oracle of the float units: results and flags of whole arrays of operands.

The PyPI package `softfloatpy` has SoftFloat's RISC-V flavour: every NaN result is the canonical quiet NaN,
and tininess is detected after rounding. A value takes it somewhat more than a microsecond.
"""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
import softfloatpy
from numpy.typing import NDArray
from softfloatpy import BFloat16, Float16, Float32

Bits = NDArray[np.unsignedinteger]


class Answers(NamedTuple):
    """Bits of the results, and flags: 16 invalid, 8 division by zero, 4 overflow, 2 underflow, 1 inexact."""

    results: Bits
    flags: NDArray[np.uint8]


def _sign(number: Float32) -> Float32:
    """SoftFloat has none: by the classes of IEEE 754-2019, 3.4. It raises no flag."""
    bits = int.from_bytes(number.to_bytes(), "big")
    magnitude = bits & 0x7FFF_FFFF
    if magnitude > 0x7F80_0000:
        result = 0x7FC0_0000
    else:
        result = bits & 1 << 31 | 0x3F80_0000 if magnitude else 0
    return Float32.from_bytes(result.to_bytes(4, "big"))


class Operation(Enum):
    """An operation of SoftFloat: its function, and the type of its operands."""

    ADD = softfloatpy.f32_add, Float32
    SUBTRACT = softfloatpy.f32_sub, Float32
    MULTIPLY = softfloatpy.f32_mul, Float32
    MULTIPLY_ADD = softfloatpy.f32_mul_add, Float32
    DIVIDE = softfloatpy.f32_div, Float32
    SQUARE_ROOT = softfloatpy.f32_sqrt, Float32
    SIGN = _sign, Float32
    TO_FLOAT16 = softfloatpy.f32_to_f16, Float32
    FROM_FLOAT16 = softfloatpy.f16_to_f32, Float16
    TO_BFLOAT16 = softfloatpy.f32_to_bf16, Float32
    FROM_BFLOAT16 = softfloatpy.bf16_to_f32, BFloat16

    def __call__(self, *operands: Bits) -> Answers:
        """Results of the operation on each element of arrays of bits, all of one length."""
        function, operand_type = self.value
        columns = [_numbers(bits, operand_type.from_bytes) for bits in operands]
        results, flags = [], bytearray()
        for row in zip(*columns, strict=True):
            softfloatpy.set_exception_flags(0)
            results.append(function(*row).to_bytes())
            flags.append(softfloatpy.get_exception_flags())
        size = len(results[0]) if results else 1
        return Answers(
            np.frombuffer(b"".join(results), f">u{size}").astype(f"u{size}"), np.frombuffer(flags, np.uint8)
        )


def _numbers(bits: Bits, from_bytes: Callable[[bytes], object]) -> list[object]:
    """Numbers of SoftFloat from their bits, which it takes with the high byte first."""
    size = bits.itemsize
    text = bits.astype(f">u{size}").tobytes()
    return [from_bytes(text[at : at + size]) for at in range(0, len(text), size)]
