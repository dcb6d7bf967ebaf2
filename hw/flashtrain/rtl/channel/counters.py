"""The counters of a channel engine."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import ChannelCounter

from .bus.bus_controller import BusActivity
from .read_buffer.page_corrector import CorrectionCounts

COUNTER_BITS = 48  # five days of cycles at 600 MHz
SELECT_BITS = bits_for(len(ChannelCounter))
_GROUP_BITS = 2
_OF_DIES = tuple(
    counter.name.lower()
    for counter in ChannelCounter
    if ChannelCounter.PROGRAMS <= counter <= ChannelCounter.DIES_OFFLINE
)


class EventCounts(data.StructLayout):
    """How many of each event happened in a cycle: at most one per die, and the corrections of a code."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        of_dies = (*_OF_DIES, "blocks_replaced", "sets_repeated") if g.spare_blocks else _OF_DIES
        super().__init__({**dict.fromkeys(of_dies, bits_for(g.dies + 1)), **CorrectionCounts(config).members})


class EventCounters(wiring.Component):
    """Counts rare events, a counter for each.

    They stand beside the counters of the bus, one of which changes in each cycle.

    Latency: an event is counted 2 cycles later.

    Members
    -------
    events : In(EventCounts)
    the names of EventCounts : Out(48) each   their counts
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "events": In(EventCounts(config)),
            **dict.fromkeys(EventCounts(config).members, Out(COUNTER_BITS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        events = Signal.like(self.events)
        m.d.sync += events.eq(self.events)
        for name in EventCounts(self.config).members:
            count = getattr(self, name)
            with m.If(events[name] != 0):
                m.d.sync += count.eq(count + events[name])
        return m


class ChannelCounters(wiring.Component):
    """Counts the cycles that a channel's bus spends in each activity, and events.

    Latency: an event is counted 2 cycles later; 3 cycles from `select` and `sample` to `value`.
    Cost: none for events that a configuration does not have.

    Members
    -------
    activity : In(BusActivity)
    events : In(EventCounts)
    select : In        a ChannelCounter
    sample : In(1)     `value` follows; otherwise it stays as it is
    value : Out(48)    its count; 0 if there is none
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "activity": In(BusActivity),
            "events": In(EventCounts(config)),
            "select": In(SELECT_BITS),
            "sample": In(1),
            "value": Out(COUNTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.events = events = EventCounters(self.config)
        now = Signal(BusActivity)
        counts = {counter: Signal(COUNTER_BITS, name=counter.name.lower()) for counter in ChannelCounter}
        m.d.comb += events.events.eq(self.events)
        m.d.sync += now.eq(self.activity)
        with m.Switch(now):
            for activity in BusActivity:
                with m.Case(activity):
                    count = counts[ChannelCounter(activity.value)]
                    m.d.sync += count.eq(count + 1)
        for name in EventCounts(self.config).members:
            m.d.comb += counts[ChannelCounter[name.upper()]].eq(getattr(events, name))

        # One of each group, then one of these.
        selected, sampled = Signal(SELECT_BITS), Signal()
        group, chosen = Signal(SELECT_BITS - _GROUP_BITS), Signal()
        m.d.sync += [
            selected.eq(self.select),
            sampled.eq(self.sample),
            group.eq(selected[_GROUP_BITS:]),
            chosen.eq(sampled),
        ]
        with m.If(chosen):
            m.d.sync += self.value.eq(0)
        for first in range(0, len(ChannelCounter), 1 << _GROUP_BITS):
            of_group = Signal(COUNTER_BITS, name=f"of_group_{first}")
            with m.If(sampled):
                m.d.sync += of_group.eq(0)
                with m.Switch(selected[:_GROUP_BITS]):
                    for number in range(first, min(first + (1 << _GROUP_BITS), len(ChannelCounter))):
                        with m.Case(number - first):
                            m.d.sync += of_group.eq(counts[ChannelCounter(number)])
            with m.If(chosen & (group == first >> _GROUP_BITS)):
                m.d.sync += self.value.eq(of_group)
        return m
