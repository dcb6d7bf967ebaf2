"""One channel of the simulated system: the engine, and the checker on its pins."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.counters import SELECT_BITS
from flashtrain.rtl.channel.engine import ChannelEngine
from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.rtl.forward import forward
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.rtl.shared import SharedModule
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.spec import FmsConfig

_OF_THE_ENGINE = (
    "pages", "programmed", "reads", "read_head", "erase", "erased", "flush", "flushed", "ready", "idle",
    "data", "data_valid", "raw", "counter_select", "counter_sample", "counter_value", "nand",
)  # fmt: skip


class ChannelUnit(wiring.Component):
    """The engine of a channel and the protocol checker; dies are models of their own.

    All that goes to the hub comes from registers but `pages.ready` and `erase.ready`, which depend on their
    own stream's payload, too. No logic stands between the pins and the first registers.

    Members
    -------
    the members of `ChannelPorts`
    data, data_valid, read_data, counter_select, counter_sample : see `ChannelEngine`
    channel_reset : In(1)   of the engine; the NAND has the other reset
    channel : In(8)         number of this channel
    cycle : In(64)          clocks since the simulation began; needed only when something happens
    nand : Out(NandBus(dies))
    violations : Out(32)    of the checker
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            **dict(ChannelPorts(config).flip().members),
            "data": In(8 * config.data_bytes),
            "data_valid": In(1),
            "read_data": Out(8 * config.data_bytes),
            "counter_select": In(SELECT_BITS),
            "counter_sample": In(1),
            "channel_reset": In(1),
            "channel": In(8),
            "cycle": In(64),
            "nand": Out(NandBus(config.geometry.dies)),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = engine = SharedModule(
            ChannelEngine(self.config), "flashtrain_channel", reset=self.channel_reset
        )
        m.submodules.checker = checker = PinChecker(self.config)
        checker.listen(m, self.nand)
        forward(m, engine, self, _OF_THE_ENGINE)
        if self.config.geometry.spare_blocks:
            forward(m, engine, self, ("spare_use",))
        m.d.comb += [
            self.read_data.eq(engine.read_data.payload),
            self.read_valid.eq(engine.read_data.valid),
            engine.read_data.ready.eq(self.read_ready),
            checker.cycle.eq(self.cycle),
            checker.channel.eq(self.channel),
            self.violations.eq(checker.violations),
        ]
        return m
