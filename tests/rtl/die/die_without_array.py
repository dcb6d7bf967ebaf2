"""A die's logic and the checker of its pins, with an array that never does anything."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.die import Die
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.spec import FmsConfig


class DieWithoutArray(wiring.Component):
    """Members: `bus`, In(NandBus(1)); `level`, what the array is told; `violations`, of the protocol."""

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({"bus": In(NandBus(1)), "level": Out(8), "violations": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.die = die = Die(self.config)
        m.submodules.checker = checker = PinChecker(self.config)
        connect(m, flipped(self.bus), die.pins)
        checker.listen(m, self.bus)
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)
        m.d.comb += [
            checker.cycle.eq(cycle),
            self.level.eq(die.array.level),
            self.violations.eq(checker.violations),
        ]
        return m
