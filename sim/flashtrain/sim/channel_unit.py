"""One channel of the simulated system: the engine, and the checker on its pins."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.engine import ChannelEngine
from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.rtl.shared import SharedModule
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.spec import FmsConfig


class ChannelUnit(wiring.Component):
    """A channel engine and the protocol checker; the dies are models of their own (`DieUnit`).

    All outputs come from registers but `pages.ready` and `erase.ready`, which depend on their own stream's
    payload, too.

    Members
    -------
    the members of `ChannelPorts`, `data`, `data_valid`, `read_data`, `counter_select` : see `ChannelEngine`
    channel_reset : In(1)   of the engine; the NAND has the other reset
    channel : In(8)         number of this channel
    nand : Out(NandBus(dies))
    violations : Out(32)    of the checker
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **ChannelPorts(config).flip().members,
            "data": In(8 * config.data_bytes),
            "data_valid": In(1),
            "read_data": Out(8 * config.data_bytes),
            "counter_select": In(4),
            "channel_reset": In(1),
            "channel": In(8),
            "nand": Out(NandBus(config.geometry.dies)),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = SharedModule(
            ChannelEngine(self.config), "flashtrain_channel", reset=self.channel_reset
        )
        connect(m, engine.nand, flipped(self.nand))
        m.submodules.checker = checker = PinChecker(self.config)
        checker.listen(m, self.nand)
        for name in ("pages", "programmed", "reads", "read_head", "erase", "erased", "flush"):
            connect(m, flipped(getattr(self, name)), getattr(engine, name))
        for name in ("flushed", "ready", "idle", "counter_value"):
            m.d.comb += getattr(self, name).eq(getattr(engine, name))
        # Clocks since the simulation began; the same in every channel.
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)
        m.d.comb += [
            engine.data.eq(self.data),
            self.read_data.eq(engine.read_data.payload),
            self.read_valid.eq(engine.read_data.valid),
            engine.read_data.ready.eq(self.read_ready),
            engine.data_valid.eq(self.data_valid),
            engine.counter_select.eq(self.counter_select),
            checker.cycle.eq(cycle),
            checker.channel.eq(self.channel),
            self.violations.eq(checker.violations),
        ]
        return m
