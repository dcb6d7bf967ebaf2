"""FP32 rounded to BF16: nearest, ties to even. In two steps, so that a register fits between them."""

from amaranth import Cat, Const, Mux, Value
from amaranth.lib import data


class RoundingLayout(data.StructLayout):
    """How a number is rounded. `up`: the high half grows by one. `nan`: it is not a number."""

    def __init__(self):
        super().__init__({"up": 1, "nan": 1})


def rounding(value: Value) -> Value:
    """The `RoundingLayout` of a number."""
    high, low = value[16:], value[:16]
    up = low[15] & (low[:15].any() | high[0])
    return Cat(up, value[23:31].all() & value[:23].any())


def rounded(value: Value, how: data.View) -> Value:
    """16 bits. A NaN stays one, with its quiet bit set; what is above all finite numbers becomes infinite."""
    high = value[16:]
    quiet = Cat(high[:6], Const(1, 1), high[7:])
    return Mux(how.nan, quiet, (high + how.up)[:16])
