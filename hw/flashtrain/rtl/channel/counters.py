"""The counters of a channel engine."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import ChannelCounter

from .bus_controller import BusActivity

COUNTER_BITS = 48  # five days of clocks at 600 MHz
_ACTIVITIES = {activity.value for activity in BusActivity}
EVENTS = tuple(counter for counter in ChannelCounter if counter.value not in _ACTIVITIES)


class EventCounts(data.StructLayout):
    """How many of each event happened in a clock: at most one per die."""

    def __init__(self, dies: int):
        super().__init__({counter.name.lower(): bits_for(dies + 1) for counter in EVENTS})


class ChannelCounters(wiring.Component):
    """Counts what a channel does: the clocks its bus spends in each activity, and events.

    Latency: an event is counted 2 clocks later; 2 clocks from `select` and `sample` to `value`.

    Members
    -------
    activity : In(BusActivity)
    events : In(EventCounts)
    select : In(4)     a ChannelCounter
    sample : In(1)     `value` follows; otherwise it stays as it is
    value : Out(48)    its count; 0 if there is none
    """

    def __init__(self, dies: int):
        self.dies = dies
        super().__init__({
            "activity": In(BusActivity),
            "events": In(EventCounts(dies)),
            "select": In(4),
            "sample": In(1),
            "value": Out(COUNTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        counts = {counter: Signal(COUNTER_BITS, name=counter.name.lower()) for counter in ChannelCounter}
        now, events = Signal(BusActivity), Signal.like(self.events)
        m.d.sync += [now.eq(self.activity), events.eq(self.events)]
        with m.Switch(now):
            for activity in BusActivity:
                with m.Case(activity):
                    count = counts[ChannelCounter(activity.value)]
                    m.d.sync += count.eq(count + 1)
        for counter in EVENTS:
            event = events[counter.name.lower()]
            with m.If(event != 0):
                m.d.sync += counts[counter].eq(counts[counter] + event)

        selected, sampled = Signal(4), Signal()
        m.d.sync += [selected.eq(self.select), sampled.eq(self.sample)]
        with m.If(sampled):
            m.d.sync += self.value.eq(0)
            with m.Switch(selected):
                for counter, count in counts.items():
                    with m.Case(counter.value):
                        m.d.sync += self.value.eq(count)
        return m
