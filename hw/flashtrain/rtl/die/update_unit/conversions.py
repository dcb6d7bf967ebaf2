"""The formats at the edge of the update unit."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.convert import Narrow, Widen
from flashtrain.rtl.float.formats import BFLOAT16, FLOAT16
from flashtrain.spec.optimizer import CopyFormat, GradientFormat


class WidenGradient(wiring.Component):
    """A gradient in any format to binary32, exactly.

    Members
    -------
    enable : In(1)
    format : In(GradientFormat)   stable
    gradient : In(32)   16-bit formats in the lower half
    result : Out(32)

    Latency: `stages` cycles. Throughput: one per cycle.
    """

    def __init__(self, stages: int = 1):
        self.stages = stages
        super().__init__(
            {"enable": In(1), "format": In(GradientFormat), "gradient": In(32), "result": Out(32)}
        )

    @property
    def latency(self) -> int:
        return self.stages

    def elaborate(self, platform):
        m = Module()
        m.submodules.widen_half = half = Widen(FLOAT16, self.stages)
        m.d.comb += [half.a.eq(self.gradient), half.enable.eq(self.enable)]
        as_it_came = self.gradient
        for stage in range(self.stages):
            register = Signal(32, name=f"as_it_came_{stage}", reset_less=True)
            with m.If(self.enable):
                m.d.sync += register.eq(as_it_came)
            as_it_came = register
        with m.Switch(self.format):
            with m.Case(GradientFormat.FP16):
                m.d.comb += self.result.eq(half.result)
            with m.Case(GradientFormat.BF16):
                m.d.comb += self.result.eq(Cat(Const(0, 16), as_it_came[:16]))
            with m.Default():
                m.d.comb += self.result.eq(as_it_came)
        return m


class NarrowWeight(wiring.Component):
    """A binary32 number in the format of the copy, rounded to nearest even.

    Members
    -------
    enable : In(1)
    format : In(CopyFormat)   stable
    a : In(32)
    result : Out(16)   of no meaning without a format

    Latency: `stages` cycles. Throughput: one per cycle.
    """

    def __init__(self, stages: int = 1):
        self.stages = stages
        super().__init__({"enable": In(1), "format": In(CopyFormat), "a": In(32), "result": Out(16)})

    @property
    def latency(self) -> int:
        return self.stages

    def elaborate(self, platform):
        m = Module()
        m.submodules.narrow_half = half = Narrow(FLOAT16, self.stages)
        m.submodules.narrow_brain = brain = Narrow(BFLOAT16, self.stages)
        for unit in (half, brain):
            m.d.comb += [unit.a.eq(self.a), unit.enable.eq(self.enable)]
        m.d.comb += self.result.eq(Mux(self.format == CopyFormat.FP16, half.result, brain.result))
        return m
