"""Shifts leading zeros out, counting them on the way."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.pipeline import Pipeline


class NormaliseLevel(wiring.Component):
    """Shifts left by `distance` if that many leading bits are zero and the limit allows it. Combinational.

    A chain of levels of distance 64, 32, ... 1 shifts by the number of leading zeros, less than 128, or by
    the limit if that is smaller; the `shifted` of the levels are the bits of the amount. The limit is used up
    on the way: a level takes its own bit, and when it had the bit and did not need it, nothing below can
    exceed the limit any more: `unlimited`.

    Of the bits that the levels below it cannot bring to the first `keep` ones, only the last output bit tells
    whether there is a one among them.

    Members
    -------
    value : In(width)
    unlimited : In(1)
    limit_bit : In(1)  bit log2(`distance`) of the limit
    shifted : Out(1)
    output : Out(out_width)
    still_unlimited : Out(1)
    """

    def __init__(self, width: int, keep: int, distance: int):
        self.width = width
        self.distance = distance
        self.out_width = min(width, keep + distance - 1)
        super().__init__(
            {
                "value": In(width),
                "unlimited": In(1),
                "limit_bit": In(1),
                "shifted": Out(1),
                "output": Out(self.out_width),
                "still_unlimited": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        leading_zeros = ~self.value[self.width - self.distance :].any()
        moved = Signal(self.width)
        dropped = self.width - self.out_width
        m.d.comb += [
            self.shifted.eq(leading_zeros & (self.unlimited | self.limit_bit)),
            self.still_unlimited.eq(self.unlimited | self.limit_bit & ~leading_zeros),
            moved.eq(Mux(self.shifted, self.value.shift_left(self.distance), self.value)),
            self.output.eq(Cat(moved[: dropped + 1].any(), moved[dropped + 1 :])),
        ]
        return m


def distances(width: int) -> list[int]:
    """Distances of the levels that normalise `width` bits, in order."""
    return [1 << power for power in reversed(range((width - 1).bit_length()))]


def level_steps(width: int) -> dict[str, float]:
    """The steps of `normalise_limited`, for `Pipeline`: the places between its levels."""
    return {f"shifted_{distance}": 2.0 + distance / 25 for distance in distances(width)[:-1]}


def normalise(m: Module, value: Value, keep: int, name: str) -> tuple[Value, Value]:
    """The first `keep` bits of a value without its leading zeros, and how many of those there were.

    Combinational. The last of the `keep` bits says whether there is a one in its place or below.
    """
    shifted = []
    for distance in distances(len(value)):
        m.submodules[f"{name}_{distance}"] = level = NormaliseLevel(len(value), keep, distance)
        m.d.comb += [level.value.eq(value), level.unlimited.eq(1)]
        shifted.insert(0, level.shifted)
        value = level.output
    return value, Cat(*shifted)


def normalise_limited(
    m: Module, pipe: Pipeline, value: Value, limit: Value, keep: int
) -> tuple[Value, Value]:
    """The same, shifting by at most `limit`, which may have any width, with `level_steps` in the pipeline."""
    levels = distances(len(value))
    pipe.window, pipe.limit_bits = value, limit[: len(levels)]
    pipe.unlimited = limit[len(levels) :].any()
    for number, distance in enumerate(levels):
        m.submodules[f"normalise_{distance}"] = level = NormaliseLevel(len(pipe.window), keep, distance)
        m.d.comb += [
            level.value.eq(pipe.window),
            level.unlimited.eq(pipe.unlimited),
            level.limit_bit.eq(pipe.limit_bits[len(levels) - 1 - number]),
        ]
        pipe.amount = level.shifted if number == 0 else Cat(level.shifted, pipe.amount)
        pipe.window, pipe.unlimited = level.output, level.still_unlimited
        if distance > 1:
            pipe.cut(f"shifted_{distance}")
    return pipe.window, pipe.amount
