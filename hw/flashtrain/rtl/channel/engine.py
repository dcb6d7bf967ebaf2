"""A channel engine: everything of the controller that there is once per channel."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.spec import FmsConfig

from ..forward import forward
from .clockwork import ChannelClockwork
from .counters import COUNTER_BITS, SELECT_BITS
from .works import ChannelWorks


class ChannelEngine(wiring.Component):
    """The works of a channel, and its clockwork.

    Members
    -------
    those of `ChannelWorks` but `timers`, `activity` and `events`
    counter_select : In, counter_sample : In(1), counter_value : Out(48)   see `ChannelCounters`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._works = ChannelWorks(config)
        super().__init__({
            **self._outer_members(),
            "counter_select": In(SELECT_BITS),
            "counter_sample": In(1),
            "counter_value": Out(COUNTER_BITS),
        })  # fmt: skip

    def _outer_members(self) -> dict[str, wiring.Member]:
        inner = ("timers", "activity", "events")
        return {name: member for name, member in self._works.signature.members.items() if name not in inner}

    def elaborate(self, platform):
        m = Module()
        m.submodules.works = works = self._works
        m.submodules.clockwork = clockwork = ChannelClockwork(self.config)
        for timers, port in zip(works.timers, clockwork.timers, strict=True):
            connect(m, timers, port)
        forward(m, works, self, self._outer_members())
        m.d.comb += [
            clockwork.activity.eq(works.activity),
            clockwork.events.eq(works.events),
            clockwork.counter_select.eq(self.counter_select),
            clockwork.counter_sample.eq(self.counter_sample),
            self.counter_value.eq(clockwork.counter_value),
        ]
        return m
