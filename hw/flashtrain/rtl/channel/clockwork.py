"""What changes in a channel although nothing happens."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.spec import FmsConfig

from .bus_controller import BusActivity
from .counters import COUNTER_BITS, SELECT_BITS, ChannelCounters, EventCounts
from .die_watch import DieTimers
from .timer import Timer


class ChannelClockwork(wiring.Component):
    """The timers and the counters of a channel: all that changes on its own.

    Apart from the rest (`ChannelWorks`), which so has nothing to do while it waits for a die: its clock can
    be gated, and a simulation need not look at it.

    Latency: of a timer, see `TimerPort`; of a counter, see `ChannelCounters`.

    Members
    -------
    timers : In(DieTimers).array(dies)
    activity : In(BusActivity), events : In(EventCounts)   to be counted
    counter_select : In, counter_sample : In(1), counter_value : Out(48)   see `ChannelCounters`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "timers": In(DieTimers(config)).array(dies),
            "activity": In(BusActivity),
            "events": In(EventCounts(config)),
            "counter_select": In(SELECT_BITS),
            "counter_sample": In(1),
            "counter_value": Out(COUNTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        for number, timers in enumerate(self.timers):
            for name, port in (("array", timers.array), ("short", timers.short), ("read", timers.read)):
                m.submodules[f"{name}_{number}"] = timer = Timer(len(port.clocks))
                connect(m, flipped(port), timer.port)
        m.submodules.counters = counters = ChannelCounters(self.config)
        m.d.comb += [
            counters.activity.eq(self.activity),
            counters.events.eq(self.events),
            counters.select.eq(self.counter_select),
            counters.sample.eq(self.counter_sample),
            self.counter_value.eq(counters.value),
        ]
        return m
