"""The base of all float units."""

from collections.abc import Collection, Mapping

from amaranth import Module, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import FLAGS, FLOAT32, FloatFormat
from flashtrain.rtl.float.pipeline import Pipeline
from flashtrain.rtl.float.round_pack import Pack, Round

ROUND_STEPS = {"rounded": 5.0, "result": 3.0}
"""The last two steps of every unit."""


class FloatUnit(wiring.Component):
    """A unit of fixed latency that takes operands in every cycle.

    Members
    -------
    enable : In(1)   while low, all registers hold
    result : Out(result_format.width)

    and the operands, which each unit names.

    Attributes
    ----------
    stages : int
        Registers between operands and result, at least 1, the last at the result. `STEPS` lists their
        possible places, and the rough delays by which they are chosen.
    latency : int
        Cycles with `enable` from operands to result: operands of cycle 0 have their result and its flags in
        cycle `latency`.
    flags : Signal(FLAGS)
        Of the result. Hardware that does not read them does not contain them.
    """

    STEPS: Mapping[str, float]
    OWN_REGISTERS: Collection[str] = ()

    def __init__(self, operands: Mapping[str, ShapeLike], stages: int, result_format: FloatFormat = FLOAT32):
        places = [place for place in self.STEPS if place not in self.OWN_REGISTERS]
        if not 1 <= stages <= len(places):
            raise ValueError(
                f"{type(self).__name__}: {stages} stages, expected 1 to {len(places)} ({', '.join(places)})"
            )
        self.stages = stages
        self.result_format = result_format
        super().__init__(
            {
                **{name: In(shape) for name, shape in operands.items()},
                "enable": In(1),
                "result": Out(result_format.width),
            }
        )
        self.flags = Signal(FLAGS)

    @property
    def latency(self) -> int:
        return self.stages

    def _round(self, m: Module, pipe: Pipeline, exponent_bits: int):
        """The last two steps of every unit: from the pipeline's sign, exponent, significand and special."""
        m.submodules.round = first = Round(self.result_format, exponent_bits)
        m.d.comb += [first.exponent.eq(pipe.exponent), first.significand.eq(pipe.significand)]
        pipe.rounded = first.rounded
        pipe.cut("rounded")

        m.submodules.pack = last = Pack(self.result_format, exponent_bits)
        m.d.comb += [last.sign.eq(pipe.sign), last.special.eq(pipe.special), last.rounded.eq(pipe.rounded)]
        pipe.result, pipe.flags = last.result, last.flags
        pipe.cut("result")
        m.d.comb += [self.result.eq(pipe.result), self.flags.eq(pipe.flags)]
