"""The feature READ_LEVEL of a die."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import FEATURE_PARAMETERS, Feature


class ReadLevel(wiring.Component):
    """Receives the four parameters of SET FEATURES, and keeps the first if the feature is READ_LEVEL.

    Latency: `level` changes in the cycle after `taken`.

    Members
    -------
    begin : In(1)     SET FEATURES with address `byte`
    beat : In(1)      a parameter: `byte`
    byte : In(8)
    clear : In(1)     back to 0
    taken : Out(1)    the last parameter is received
    level : Out
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "begin": In(1),
            "beat": In(1),
            "byte": In(8),
            "clear": In(1),
            "taken": Out(1),
            "level": Out(config.level_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        known = Signal()  # the feature is READ_LEVEL
        number = Signal(range(FEATURE_PARAMETERS), reset_less=True)
        first = Signal.like(self.level, reset_less=True)
        m.d.comb += self.taken.eq(self.beat & (number == FEATURE_PARAMETERS - 1))
        with m.If(self.begin):
            m.d.sync += [known.eq(self.byte == Feature.READ_LEVEL), number.eq(0)]
        with m.If(self.beat):
            m.d.sync += number.eq(number + 1)
            with m.If(number == 0):
                m.d.sync += first.eq(self.byte)
        with m.If(self.clear):
            m.d.sync += self.level.eq(0)
        with m.Elif(self.taken & known):
            m.d.sync += self.level.eq(first)
        return m
