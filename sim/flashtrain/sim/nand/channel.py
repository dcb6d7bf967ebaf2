"""The NAND packages of one channel."""

from typing import NamedTuple

from amaranth import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec import FmsConfig

from .die_unit import DieUnit
from .pin_checker import PinChecker
from .sdr_bridge import SdrBridge, ready_lines


class DiePins(NamedTuple):
    """Names of the pins between a channel and its dies: to all dies, the enable of each, answers of all dies
    joined by OR. `rb_n` is that of each.
    """

    shared: tuple[str, ...]
    enable: str
    answers: tuple[str, ...]


def pins_of_dies(config: FmsConfig) -> DiePins:
    if config.chips.sca:
        shared = ("ca_clk", "ca_o", "ca_oe", "dqs_o", "re", "dq_o")
        return DiePins(shared, "ca_ce_n", ("dqs_i", "dq_i", "ca_valid", "ca_i"))
    return DiePins(("cle", "ale", "we", "dqs_o", "re", "dq_o"), "ce_n", ("dqs_i", "dq_i"))


class NandChannel(wiring.Component):
    """Dies, the models of their arrays, and the checker, on the pins of one channel.

    It is the same for all channels, so that one compiled module serves them all:

        nand = NandChannel(config)
        for channel, pins in enumerate(fms.pins):
            m.submodules[f"nand{channel}"] = packages = SharedModule(nand, "nand_channel")
            connect(m, flipped(pins), packages.bus)    # or the other way round, as the pins are seen
            m.d.comb += [packages.cycle.eq(cycle), packages.channel.eq(channel)]
        m.d.sync += cycle.eq(cycle + 1)                # 64 bits

    Parameters
    ----------
    config
        Geometry and timing.
    bad_block, bad_planes
        This block fails to program and to erase on these planes (a bit each) of every die.

    Members
    -------
    bus : In(NandBus(dies))   the dies have no asynchronous interface: they ignore a command port, and DQ is
      0. With SCA it is In(ScaBus(dies)). Without `chips.ddr` a `SdrBridge` is before them, and no checker
    cycle : In(64)        number of this cycle; stamps messages and events
    channel : In(8)       number of this channel, for the same
    violations : Out(32)  how often the arrays and the checker refused something
    """

    def __init__(self, config: FmsConfig, *, bad_block: int | None = None, bad_planes: int = 0):
        self.config = config
        self.bad_block = bad_block
        self.bad_planes = bad_planes
        super().__init__({
            "bus": In(nand_bus(config)),
            "cycle": In(64),
            "channel": In(8),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bus = self.bus
        names = pins_of_dies(self.config)
        answers = dict.fromkeys(names.answers, 0)
        unit = DieUnit(self.config, bad_block=self.bad_block, bad_planes=self.bad_planes)
        if self.config.chips.ddr:
            pins = bus
            m.submodules.checker = checker = PinChecker(self.config)
            ready = Signal(self.config.geometry.dies)
            checker.listen(m, bus, ready)
            m.d.comb += bus.rb_n.eq(ready_lines(self.config, ready))
            m.d.comb += [checker.cycle.eq(self.cycle), checker.channel.eq(self.channel)]
            violations = checker.violations
        else:
            m.submodules.bridge = bridge = SdrBridge(self.config)
            connect(m, flipped(bus), bridge.bus)
            pins, violations, ready = bridge.dies, Const(0), bridge.dies.rb_n
        for index in range(self.config.geometry.dies):
            m.submodules[f"die{index}"] = die = SharedModule(unit, "flashtrain_die_unit")
            m.d.comb += [
                *(getattr(die.pins, name).eq(getattr(pins, name)) for name in names.shared),
                getattr(die.pins, names.enable).eq(
                    getattr(pins, names.enable)[index // self.config.chips.luns]
                ),
                ready[index].eq(die.pins.rb_n),
                die.cycle.eq(self.cycle),
                die.channel.eq(self.channel),
                die.die.eq(index),
            ]
            # Dies that are not asked for data drive zeros.
            for name in answers:
                answers[name] |= getattr(die.pins, name)
            violations += die.violations
        m.d.comb += [getattr(pins, name).eq(value) for name, value in answers.items()]
        m.d.comb += self.violations.eq(violations)
        return m
