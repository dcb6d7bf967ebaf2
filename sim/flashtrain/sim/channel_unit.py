"""One channel of the simulated system: the works, and the checker on its pins."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.bus_controller import BusActivity
from flashtrain.rtl.channel.counters import EventCounts
from flashtrain.rtl.channel.die_watch import DieTimers
from flashtrain.rtl.channel.works import ChannelWorks
from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.rtl.shared import SharedModule
from flashtrain.sim.nand.pin_checker import PinChecker
from flashtrain.spec import FmsConfig


class ChannelUnit(wiring.Component):
    """The works of a channel and the protocol checker; clockwork and dies are models of their own.

    All that goes to the hub comes from registers but `pages.ready` and `erase.ready`, which depend on their
    own stream's payload, too. No logic stands between the pins and the first registers.

    Members
    -------
    the members of `ChannelPorts` but `counter_value`, `data`, `data_valid`, `read_data` : see `ChannelWorks`
    timers, activity, events : Out   for the `ChannelClockwork`
    channel_reset : In(1)   of the engine; the NAND has the other reset
    channel : In(8)         number of this channel
    cycle : In(64)          clocks since the simulation began; needed only when something happens
    nand : Out(NandBus(dies))
    violations : Out(32)    of the checker
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        ports = dict(ChannelPorts(config).flip().members)
        del ports["counter_value"]
        super().__init__({
            **ports,
            "timers": Out(DieTimers(config)).array(config.geometry.dies),
            "activity": Out(BusActivity),
            "events": Out(EventCounts(config.geometry.dies)),
            "data": In(8 * config.data_bytes),
            "data_valid": In(1),
            "read_data": Out(8 * config.data_bytes),
            "channel_reset": In(1),
            "channel": In(8),
            "cycle": In(64),
            "nand": Out(NandBus(config.geometry.dies)),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.works = works = SharedModule(
            ChannelWorks(self.config), "flashtrain_channel_works", reset=self.channel_reset
        )
        connect(m, works.nand, flipped(self.nand))
        for timers, outer in zip(works.timers, self.timers, strict=True):
            connect(m, timers, flipped(outer))
        m.submodules.checker = checker = PinChecker(self.config)
        checker.listen(m, self.nand)
        for name in ("pages", "programmed", "reads", "read_head", "erase", "erased", "flush"):
            connect(m, flipped(getattr(self, name)), getattr(works, name))
        for name in ("flushed", "ready", "idle"):
            m.d.comb += getattr(self, name).eq(getattr(works, name))
        m.d.comb += [
            works.data.eq(self.data),
            self.activity.eq(works.activity),
            self.events.eq(works.events),
            self.read_data.eq(works.read_data.payload),
            self.read_valid.eq(works.read_data.valid),
            works.read_data.ready.eq(self.read_ready),
            works.data_valid.eq(self.data_valid),
            checker.cycle.eq(self.cycle),
            checker.channel.eq(self.channel),
            self.violations.eq(checker.violations),
        ]
        return m
