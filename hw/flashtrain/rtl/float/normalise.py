"""Shifts leading zeros out and counts them."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.pipeline import Pipeline


class NormaliseLevel(wiring.Component):
    """Shifts left by `distance` if that many leading bits are zero and the limit allows it. Combinational.

    A chain of levels of distance 64, 32, ... 1 shifts by the number of leading zeros, less than 128, or by
    the limit if that is smaller. The `shifted` of the levels are the bits of the amount.

    Each level uses its own bit of the limit. A level whose bit is set and that does not shift leaves enough
    of the limit for all levels below: they are `unlimited`.

    A level detects the leading zeros of the next one for both cases while it shifts. A level is therefore as
    fast as one multiplexer behind a register.

    The levels below cannot move the lowest bits into the first `keep` ones. The last output bit is the OR of
    these bits.

    Members
    -------
    value : In(width)
    leading_zeros : In(1)   the first `distance` bits are 0
    unlimited : In(1)
    limit_bit : In(1)  bit log2(`distance`) of the limit
    shifted : Out(1)
    output : Out(out_width)
    still_leading_zeros : Out(1)   the first `distance` / 2 bits of the output are 0; nothing for distance 1
    still_unlimited : Out(1)
    """

    def __init__(self, width: int, keep: int, distance: int):
        self.width = width
        self.distance = distance
        self.out_width = min(width, keep + distance - 1)
        super().__init__(
            {
                "value": In(width),
                "leading_zeros": In(1),
                "unlimited": In(1),
                "limit_bit": In(1),
                "shifted": Out(1),
                "output": Out(self.out_width),
                "still_leading_zeros": Out(1),
                "still_unlimited": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        moved = Signal(self.width)
        dropped = self.width - self.out_width
        half = self.distance // 2
        unmoved_zeros = ~self.value[self.width - half :].any()
        # Below the value there are zeros: `half` bits from there need not all exist.
        end = self.width - self.distance
        moved_zeros = ~self.value[max(end - half, 0) : end].any()
        m.d.comb += [
            self.shifted.eq(self.leading_zeros & (self.unlimited | self.limit_bit)),
            self.still_leading_zeros.eq(Mux(self.shifted, moved_zeros, unmoved_zeros)),
            self.still_unlimited.eq(self.unlimited | self.limit_bit & ~self.leading_zeros),
            moved.eq(Mux(self.shifted, self.value.shift_left(self.distance), self.value)),
            self.output.eq(Cat(moved[: dropped + 1].any(), moved[dropped + 1 :])),
        ]
        return m


def distances(width: int) -> list[int]:
    """Distances of the levels that normalise `width` bits, in order."""
    return [1 << power for power in reversed(range((width - 1).bit_length()))]


def level_steps(width: int) -> dict[str, float]:
    """The steps of `normalise_limited`, for `Pipeline`: the places before and between its levels."""
    levels = distances(width)
    return {
        "scanned": 2.0 + levels[0] / 25,
        **{f"shifted_{level}": 2.0 + level / 25 for level in levels[:-1]},
    }


def normalise(m: Module, value: Value, keep: int, name: str, levels: list[int]) -> tuple[Value, Value]:
    """The first bits of a value without leading zeros, as far as `levels` shift, and how far that is.

    Combinational. After level 1 there are `keep` bits, the last of which says whether there is a one in its
    place or below. The amount counts in units of the last level.
    """
    shifted = []
    zeros = ~value[-levels[0] :].any()
    for distance in levels:
        m.submodules[f"{name}_{distance}"] = level = NormaliseLevel(len(value), keep, distance)
        m.d.comb += [level.value.eq(value), level.leading_zeros.eq(zeros), level.unlimited.eq(1)]
        shifted.insert(0, level.shifted)
        value, zeros = level.output, level.still_leading_zeros
    return value, Cat(*shifted)


def normalise_limited(
    m: Module, pipe: Pipeline, value: Value, limit: Value, keep: int
) -> tuple[Value, Value]:
    """The first `keep` bits of a value without its leading zeros, and how many of them were shifted out.

    These are at most `limit`, which may have any width. The last of the `keep` bits says whether there is
    a one in its place or below. The steps in the pipeline are `level_steps`.
    """
    levels = distances(len(value))
    pipe.window, pipe.limit_bits = value, limit[: len(levels)]
    pipe.leading_zeros = ~value[-levels[0] :].any()
    pipe.unlimited = limit[len(levels) :].any()
    pipe.cut("scanned")
    for power, distance in reversed(list(enumerate(reversed(levels)))):
        m.submodules[f"normalise_{distance}"] = level = NormaliseLevel(len(pipe.window), keep, distance)
        m.d.comb += [
            level.value.eq(pipe.window),
            level.leading_zeros.eq(pipe.leading_zeros),
            level.unlimited.eq(pipe.unlimited),
            level.limit_bit.eq(pipe.limit_bits[power]),
        ]
        pipe.amount = level.shifted if distance == levels[0] else Cat(level.shifted, pipe.amount)
        pipe.window = level.output
        pipe.leading_zeros, pipe.unlimited = level.still_leading_zeros, level.still_unlimited
        if distance > 1:
            pipe.cut(f"shifted_{distance}")
    return pipe.window, pipe.amount
