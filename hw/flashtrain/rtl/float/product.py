"""The exact product of two significands."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib.data import View

from flashtrain.rtl.float.formats import FLOAT32
from flashtrain.rtl.float.pipeline import Pipeline

HALF = FLOAT32.precision // 2


def product_steps() -> dict[str, float]:
    """The steps of `multiply_significands`, for `Pipeline`."""
    return {"multiplied": 7.0}


def multiply_significands(m: Module, pipe: Pipeline, a: View, b: View) -> Value:
    """The product of the significands of two unpacked numbers, 48 bits, with `product_steps` in the pipeline.

    Four multipliers of 12 by 12 bits, one of an FPGA's 18 by 18 each; their products are added behind the
    place `multiplied`.
    """
    a_low, a_high = a.significand[:HALF], a.significand[HALF:]
    b_low, b_high = b.significand[:HALF], b.significand[HALF:]
    pipe.outer_products = Cat(a_low * b_low, a_high * b_high)
    pipe.low_high, pipe.high_low = a_low * b_high, a_high * b_low
    pipe.cut("multiplied")
    inner = Signal(2 * HALF + 1)
    m.d.comb += inner.eq(pipe.low_high + pipe.high_low)
    product = Signal(4 * HALF)
    m.d.comb += product.eq(pipe.outer_products + inner.shift_left(HALF))
    return product
