"""FP32 rounded to BF16: nearest, ties to even."""

from amaranth import Cat, Const, Mux, Value


def rounded(value: Value) -> Value:
    """16 bits. A NaN stays one, with its quiet bit set; what is above all finite numbers becomes infinite."""
    high, low = value[16:], value[:16]
    up = low[15] & (low[:15].any() | high[0])
    nan = value[23:31].all() & value[:23].any()
    quiet = Cat(high[:6], Const(1, 1), high[7:])
    return Mux(nan, quiet, (high + up)[:16])
