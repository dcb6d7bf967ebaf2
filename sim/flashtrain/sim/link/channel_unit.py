"""One channel of the simulated system: the engine, and the checker on its pins."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.engine import ChannelEngine
from flashtrain.rtl.channel.interface import ChannelBroadcast, ChannelInterface
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.nand.channel import pins_of_dies
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.sim.nand.sdr_bridge import SdrBridge, dies_bus, ready_lines
from flashtrain.spec import FmsConfig


class ChannelUnit(wiring.Component):
    """The engine of a channel and the protocol checker; dies are models of their own.

    With SDR a `SdrBridge` leads to the dies, in the place of the checker.

    Every signal to the front end comes from registers but `pages.ready` and `erase.ready`, which depend on
    their own stream's payload, too. No logic stands between the pins and the first registers.

    Members
    -------
    the members of `ChannelInterface` and `ChannelBroadcast`
    data_valid, read_data : see `ChannelEngine`
    channel_reset : In(1)   of the engine; the NAND has the other reset
    channel : In(8)         number of this channel
    cycle : In(64)          cycles since the simulation began; needed only at an event
    nand : Out(NandBus(dies))
    violations : Out(32)    of the checker
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **dict(ChannelInterface(config).flip().members),
            **dict(ChannelBroadcast(config).flip().members),
            "data_valid": In(1),
            "read_data": Out(8 * config.data_bytes),
            "channel_reset": In(1),
            "channel": In(8),
            "cycle": In(64),
            "nand": Out(dies_bus(config)),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = SharedModule(
            ChannelEngine(self.config), "flashtrain_channel", reset=self.channel_reset
        )
        if self.config.chips.ddr:
            ready = self.nand.rb_n
            if self.config.chips.luns == 1:
                forward(m, engine, self, ("nand",))
            else:
                pins = pins_of_dies(self.config)
                m.d.comb += engine.nand.rb_n.eq(ready_lines(self.config, ready))
                for name in (*pins.shared, pins.enable):
                    m.d.comb += getattr(self.nand, name).eq(getattr(engine.nand, name))
                for name in pins.answers:
                    m.d.comb += getattr(engine.nand, name).eq(getattr(self.nand, name))
            m.submodules.checker = checker = PinChecker(self.config)
            checker.listen(m, self.nand, ready)
            m.d.comb += [
                checker.cycle.eq(self.cycle),
                checker.channel.eq(self.channel),
                self.violations.eq(checker.violations),
            ]
        else:
            m.submodules.bridge = bridge = SdrBridge(self.config)
            connect(m, engine.nand, bridge.bus)
            connect(m, bridge.dies, flipped(self.nand))
        for interface in (engine.front_end, engine.broadcast):
            forward(m, interface, self, interface.signature.members)
        forward(m, engine, self, ("data_valid", "read_data"))
        return m
