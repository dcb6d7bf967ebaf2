"""The asynchronous interface in front of simulated dies, which have beats alone."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.nand_bus import NandBus, nand_bus
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.nand import DieCommand

LATENCY = 3
"""Cycles from a level of RE_n to its byte: registers to the die and from it, and the die's own."""


def dies_bus(config: FmsConfig) -> NandBus:
    """The pins of simulated dies: with SDR those behind a `SdrBridge`. Each die has an R/B# of its own."""
    if config.chips.ddr and config.chips.luns == 1:
        return nand_bus(config)
    return NandBus(config.chip_enables, ready=config.geometry.dies)


def ready_lines(config: FmsConfig, rb_n: Value) -> Value:
    """R/B# of chip enables, of this of all dies."""
    luns = config.chips.luns
    if luns == 1:
        return rb_n
    return Cat(rb_n[first : first + luns].all() for first in range(0, len(rb_n), luns))


class SdrBridge(wiring.Component):
    """Makes strobes of levels, and beats of pairs of bytes.

    A byte is on the pins `port_delay` cycles behind the fall of RE_n at the latest, and stays there until the
    next one comes. Times are not checked: `tests/parts` has chips that do. SET FEATURES has no effect.

    Members
    -------
    bus : In(NandBus(dies, asynchronous=True))   of the controller
    dies : Out(dies_bus)    outputs are registers
    """

    def __init__(self, config: FmsConfig):
        require(config.port_delay >= LATENCY, "config.port_delay", config.port_delay,
                f"at least {LATENCY}, for simulated dies with SDR")  # fmt: skip
        self.delay = config.port_delay - LATENCY
        self.config = config
        bus = NandBus(config.chip_enables, asynchronous=True)
        super().__init__({"bus": In(bus), "dies": Out(dies_bus(config))})

    def elaborate(self, platform):
        m = Module()
        bus, dies = self.bus, self.dies
        was_we_n, was_re_n = Signal(init=1), Signal(init=1)
        high, low_byte = Signal(), Signal(8)  # the next byte is the high one of its pair
        ignoring, was_ignoring = Signal(), Signal()  # SET FEATURES and what follows
        byte, names = bus.dq_o[:8], bus.cle | bus.ale
        writes, reads = bus.we_n & ~was_we_n & bus.sdr, ~bus.re_n & was_re_n & bus.sdr
        m.d.comb += [
            ignoring.eq(Mux(writes & bus.cle, byte == DieCommand.SET_FEATURES, was_ignoring)),
            bus.rb_n.eq(ready_lines(self.config, dies.rb_n)),
        ]
        m.d.sync += [
            was_we_n.eq(bus.we_n),
            was_re_n.eq(bus.re_n),
            was_ignoring.eq(ignoring),
            dies.ce_n.eq(bus.ce_n),
            dies.we.eq(writes & names & ~ignoring),
            dies.cle.eq(bus.cle & ~ignoring),
            dies.ale.eq(bus.ale & ~ignoring),
            dies.dqs_o.eq(writes & ~names & high & ~ignoring),
            dies.dq_o.eq(Mux(names, byte, Cat(low_byte, byte))),
            dies.re.eq(reads & ~high),
        ]
        with m.If(writes):
            m.d.sync += [high.eq(~names & ~high), low_byte.eq(byte)]
        with m.If(reads):
            m.d.sync += high.eq(~high)
        with m.If(bus.ce_n.all()):  # a status is a single byte
            m.d.sync += high.eq(0)

        pair, shows_high = Signal(16), Signal(LATENCY)
        m.d.sync += shows_high.eq(Cat(Mux(reads, high, shows_high[0]), shows_high))
        with m.If(dies.dqs_i):
            m.d.sync += pair.eq(dies.dq_i)
        level = Mux(shows_high[-1], pair[8:], pair[:8])
        for stage in range(self.delay):
            register = Signal(8, name=f"dq_i_{stage}")
            m.d.sync += register.eq(level)
            level = register
        m.d.comb += bus.dq_i.eq(level)
        return m
