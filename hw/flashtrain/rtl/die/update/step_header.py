"""The header of the optimizer step in a die."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.optimizer import CONSTANT_WORDS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import KEY_BITS, Rounding, StateFormat
from flashtrain.spec.update import UpdateHeader

_PAIR_BITS = 16
_PAIRS = 8 * UpdateHeader.BYTES // _PAIR_BITS
_FIELDS = (
    "code", "gradient_format", "copy_format", "weight_format", "moment_format", "rounding", "parameters",
    "rounding_key", "first_zone", "first_page",
)  # fmt: skip


class StepHeader(wiring.Component):
    """Keeps the `UpdateHeader` at the beginning of a LOAD_CONSTANTS page, and ignores the rest of the page.

    Members
    -------
    begin : In(1)             a page begins
    beat : In(1)              two bytes of it: `byte_pair`
    code, gradient_format, copy_format, weight_format, moment_format, rounding, parameters, rounding_key,
    first_zone, first_page, constants : Out
    """

    def __init__(self):
        super().__init__({
            "begin": In(1),
            "beat": In(1),
            "byte_pair": In(_PAIR_BITS),
            "code": Out(OptimizerCode),
            "gradient_format": Out(GradientFormat),
            "copy_format": Out(CopyFormat),
            "weight_format": Out(StateFormat),
            "moment_format": Out(StateFormat),
            "rounding": Out(Rounding),
            "parameters": Out(32),
            "rounding_key": Out(KEY_BITS),
            "first_zone": Out(UpdateHeader.first_zone.width),
            "first_page": Out(UpdateHeader.first_page.width),
            "constants": Out(data.ArrayLayout(32, CONSTANT_WORDS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        fields = [
            *((getattr(self, name), getattr(UpdateHeader, name)) for name in _FIELDS),
            *((self.constants[number], field) for number, field in enumerate(UpdateHeader.constants)),
        ]
        used = {bit // _PAIR_BITS for _, field in fields for bit in range(field.low, field.low + field.width)}
        pairs = {index: Signal(_PAIR_BITS, name=f"pair_{index}", reset_less=True) for index in sorted(used)}
        header = Cat(pairs.get(index, Const(0, _PAIR_BITS)) for index in range(_PAIRS))
        m.d.comb += [member.eq(header[field.low : field.low + field.width]) for member, field in fields]

        pair = Signal(range(_PAIRS + 1), init=_PAIRS)
        with m.If(self.begin):
            m.d.sync += pair.eq(0)
        with m.Elif(self.beat & (pair != _PAIRS)):
            m.d.sync += pair.eq(pair + 1)
            with m.Switch(pair):
                for index, kept in pairs.items():
                    with m.Case(index):
                        m.d.sync += kept.eq(self.byte_pair)
        return m
