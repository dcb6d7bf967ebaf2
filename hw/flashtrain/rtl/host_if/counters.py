"""Counters of the front end, and the port on which the register file reads counters."""

from amaranth import Array, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.registers import Counter

COUNTER_BITS = 64
LATENCY_BITS = 32
LATENCIES = {Counter.APPEND_LATENCY: Counter.APPENDS, Counter.READ_LATENCY: Counter.READS}


class Pulses(data.StructLayout):
    """One bit per counter of cycles or events, named as in `spec.registers.Counter`."""

    def __init__(self):
        own = {Counter.CYCLES, *LATENCIES, *LATENCIES.values()}
        super().__init__({counter.name.lower(): 1 for counter in Counter if counter not in own})


class Latency(data.StructLayout):
    """A command has been answered: `append` or `read` is high for a cycle; the cycles that it took."""

    def __init__(self):
        super().__init__({"append": 1, "read": 1, "cycles": LATENCY_BITS})


class CounterPort(wiring.Signature):
    """A bank of counters as the register file sees it.

    Members
    -------
    select : Out     number of a counter
    sample : Out(1)  `value` follows; otherwise it stays as it is
    value : In
    """

    def __init__(self, counters: int, bits: int):
        super().__init__({"select": Out(range(counters)), "sample": Out(1), "value": In(bits)})


class Counters(wiring.Component):
    """Counts from the reset of the controller on.

    Latency: 2 cycles from an event to its counter, 2 from `port.select` to `port.value`, 1 from
    `port.sample`.

    Members
    -------
    pulses : In(Pulses)
    latency : In(Latency)
    port : In(CounterPort)   selects a `spec.registers.Counter`
    """

    def __init__(self):
        super().__init__({
            "pulses": In(Pulses()),
            "latency": In(Latency()),
            "port": In(CounterPort(len(Counter), COUNTER_BITS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        counts = Array(Signal(COUNTER_BITS, name=counter.name.lower()) for counter in Counter)
        pulses, latency = Signal(Pulses()), Signal(Latency())
        m.d.sync += [pulses.eq(self.pulses), latency.eq(self.latency)]
        increments = {
            Counter.CYCLES: 1,
            Counter.APPENDS: latency.append,
            Counter.APPEND_LATENCY: latency.append.replicate(LATENCY_BITS) & latency.cycles,
            Counter.READS: latency.read,
            Counter.READ_LATENCY: latency.read.replicate(LATENCY_BITS) & latency.cycles,
        }
        for counter in Counter:
            increment = increments.get(counter)
            if increment is None:
                increment = pulses[counter.name.lower()]
            m.d.sync += counts[counter].eq(counts[counter] + increment)
        select = Signal.like(self.port.select)
        m.d.sync += select.eq(self.port.select)
        with m.If(self.port.sample):
            m.d.sync += self.port.value.eq(counts[select])
        return m
