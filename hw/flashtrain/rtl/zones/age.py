"""Whether the data of a zone are old, or too old, for its stream's class of retention."""

from amaranth import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import TIME_BITS
from flashtrain.spec.streams import Retention


class ZoneAge(wiring.Component):
    """Compares the time of a zone's oldest data with what time it is.

    For each class it keeps the times before which data are due and expired, so that there is one subtraction
    between `since` and the outputs. Differences count modulo 2^32: data from the future are fresh.

    Latency: 1 clock from `time`, 0 from `since` and `retention`.

    Members
    -------
    time : In(32)      seconds
    since : In(32)     of the oldest data
    retention : In(2)  Retention; what is none never ages
    due : Out(1)       for `Retention.due` seconds or more
    expired : Out(1)   for `Retention.limit` seconds or more
    """

    def __init__(self):
        super().__init__({
            "time": In(TIME_BITS),
            "since": In(TIME_BITS),
            "retention": In(2),
            "due": Out(1),
            "expired": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        for name, output in (("due", self.due), ("limit", self.expired)):
            seconds = {which: getattr(which, name) for which in Retention}
            before = {
                which: Signal(TIME_BITS, init=-age % (1 << TIME_BITS), name=f"{name}_{which.name.lower()}")
                for which, age in seconds.items()
            }
            m.d.sync += [before[which].eq(self.time - age) for which, age in seconds.items()]
            passed = Signal(TIME_BITS, name=f"{name}_passed")
            m.d.comb += passed.eq(Array(before.values())[self.retention] - self.since)
            m.d.comb += output.eq(~passed[-1] & (self.retention <= max(Retention)))
        return m
