"""The logical zone table, the scan that reclaims its stale entries, and the age of a zone's data."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SEQUENCE_BITS, STREAM_BITS, TIME_BITS
from flashtrain.spec import FmsConfig, ZoneState
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Retention

GENERATION_BITS = PageIdentity.generation.width


def is_retired(state: Value) -> Value:
    """Whether a zone of this `ZoneState` is out of service."""
    return (state == ZoneState.READ_ONLY) | (state == ZoneState.OFFLINE)


class Placement(data.StructLayout):
    """A physical zone, as it was allocated for a logical one."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "zone": config.geometry.zone_bits,
            "sequence": PageIdentity.sequence.width,  # number of the allocation
            "wear": PageIdentity.wear.width,  # of the zone
        })  # fmt: skip


class ZoneEntry(data.StructLayout):
    """The record of a logical zone."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "state": 4,  # ZoneState
            "mapped": 1,  # `placement` is its own
            "placement": Placement(config),
            "pointer": g.zone_size_bits + 1,  # the next offset to be written, up to the capacity
            "stream": STREAM_BITS,  # whose generation counts
            "generation": GENERATION_BITS,
            "job": SEQUENCE_BITS,  # number of its last write job
            "time": TIME_BITS,  # of its first append since it was empty
            "unsure": 1,  # if mapped: blocks behind `pointer` may have been written, and lost
        })  # fmt: skip


class Purpose(enum.Enum, shape=3):
    """Purpose of a lookup in the zone table: a command, or from 4 on something of its own."""

    NONE = 0
    COMMAND = 1  # the command's zone
    SOURCE = 2  # its source's zone
    EACH = 3  # the zones of the command's stream, in turn
    RETIRE = 4
    SETTLE = 5
    RECLAIM = 6


def for_command(purpose: Value) -> Value:
    """Whether it is a command's `Purpose`, or none."""
    return ~Value.cast(purpose)[-1]


class Lookup(data.StructLayout):
    """A zone that was looked up, with its entry: a stale one reads as empty and unmapped."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "purpose": Purpose,
            "zone": config.geometry.zone_bits,
            "entry": ZoneEntry(config),
            "stale": 1,  # the entry is stale and should be cleared
            "reclaim": 1,  # it also still holds `entry.placement`
            "overtaken": 1,  # the zone was written after its entry was read
        })  # fmt: skip


class ZoneTable(wiring.Component):
    """The logical zone table, masked by the streams' generations.

    An entry of another generation than its stream's is *stale*: the zone is empty, whatever the entry says,
    unless it is read-only or offline, which no reset undoes.

    Memory: one read port with an output register, and one write port. After reset all zones are made empty,
    one per cycle; `ready` then rises.

    Latency: `LOOKUP_CYCLES` from a zone to `found`. Throughput: one lookup and one write per cycle. A write
    shows in the lookups from the second cycle after it on. It marks the earlier ones of its zone as
    overtaken.

    Members
    -------
    generations : In(16).array(8)   current generation of each stream; constant while a lookup with a purpose
      is between its first and its third cycle
    zone : In(zone_bits)            logical zone to look up
    purpose : In(Purpose)           of this lookup
    cancel : In(1)                  a command's lookups that are under way lose their purpose
    busy : Out(1)                   a lookup with a purpose is under way or found, or was before `cancel`
    since : Out(32)                 time of the entry that is found in the next cycle
    found : Out(Lookup)
    write : In(1)                   store `write_entry` as the entry of `write_zone`
    writing : Out(1)                `write`, a cycle later
    free : Out(1)                   initialised, and not `writing`
    ready : Out(1)                  initialised
    """

    LOOKUP_CYCLES = 3

    def __init__(self, config: FmsConfig):
        self.config = config
        zone_bits = config.geometry.zone_bits
        super().__init__({
            "generations": In(GENERATION_BITS).array(MAX_STREAMS),
            "zone": In(zone_bits),
            "purpose": In(Purpose),
            "cancel": In(1),
            "busy": Out(1),
            "since": Out(TIME_BITS),
            "found": Out(Lookup(config)),
            "write": In(1),
            "write_zone": In(zone_bits),
            "write_entry": In(ZoneEntry(config)),
            "writing": Out(1),
            "free": Out(1),
            "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        zones, zone_bits = self.config.geometry.zones, self.config.geometry.zone_bits
        m.submodules.entries = entries = Memory(shape=ZoneEntry(self.config), depth=zones, init=[])
        read, write = entries.read_port(), entries.write_port()

        # A lookup: its zone is at the memory's port, then its entry in the memory, then in `stored`.
        way = data.StructLayout({"purpose": Purpose, "zone": zone_bits})
        asked, first, second = (Signal(way, name=name) for name in ("asked", "in_memory", "in_register"))
        # A write passes a register, too. The zones of lookups under way are compared meanwhile. A zone that
        # was at the port in the cycle of a write, or in the one after, is compared a cycle later.
        second_marked, second_same, second_overtaken = (
            Signal(name=f"in_register_{name}") for name in ("marked", "same", "overtaken")
        )
        found_marked, found_same = Signal(), Signal()
        written_zone, written_entry = Signal(zone_bits), Signal(ZoneEntry(self.config))
        wrote, wrote_zone = Signal(), Signal(zone_bits)
        stored, found = Signal(ZoneEntry(self.config)), self.found
        entry = Signal(ZoneEntry(self.config), reset_less=True)  # that is found
        current = Signal(GENERATION_BITS)  # of its stream
        stale = Signal()
        m.d.comb += [
            read.addr.eq(self.zone),
            asked.purpose.eq(self.purpose),
            asked.zone.eq(self.zone),
            stale.eq((stored.generation != current) & ~is_retired(stored.state)),
            self.since.eq(stored.time),
            found.entry.eq(entry),
            second_overtaken.eq(second_marked | self.writing & second_same),
            found.overtaken.eq(found_marked | self.writing & found_same),
        ]
        for before, after in ((asked, first), (first, second), (second, found)):
            m.d.sync += [after.purpose.eq(before.purpose), after.zone.eq(before.zone)]
        m.d.sync += [
            self.busy.eq(Cat(one.purpose for one in (asked, first, second)).any()),
            self.writing.eq(self.write),
            self.free.eq(self.ready & ~self.write),
            written_zone.eq(self.write_zone),
            written_entry.eq(self.write_entry),
            wrote.eq(self.writing),
            wrote_zone.eq(written_zone),
            second_marked.eq(
                self.writing & (written_zone == first.zone) | wrote & (wrote_zone == first.zone)
            ),
            second_same.eq(self.is_written(first.zone)),
            found_marked.eq(second_overtaken),
            found_same.eq(self.is_written(second.zone)),
        ]
        for after, before in ((second, first), (found, second)):
            with m.If(self.cancel & for_command(before.purpose)):
                m.d.sync += after.purpose.eq(Purpose.NONE)
        m.d.sync += [
            stored.eq(read.data),
            current.eq(Array(self.generations)[read.data.stream]),
            entry.eq(stored),
            found.stale.eq(stale),
            found.reclaim.eq(stale & stored.mapped),
        ]
        with m.If(stale):
            m.d.sync += [
                entry.state.eq(ZoneState.EMPTY),
                entry.mapped.eq(0),
                entry.pointer.eq(0),
            ]

        cleared = Signal(range(zones))
        with m.If(self.ready):
            m.d.comb += [
                write.en.eq(self.writing),
                write.addr.eq(written_zone),
                write.data.eq(written_entry),
            ]
        with m.Else():
            m.d.comb += [write.en.eq(1), write.addr.eq(cleared), write.data.state.eq(ZoneState.EMPTY)]
            m.d.sync += [cleared.eq(cleared + 1), self.ready.eq(cleared == zones - 1)]
        return m

    def is_written(self, zone: Value) -> Value:
        """Whether a write of this cycle would be to that zone."""
        return self.write_zone == zone


class Reclaim(wiring.Component):
    """Scans the zone table round after each stream reset, so that no stale entry stays.

    The scan resumes where the last one stopped, and ends when every zone was scanned since the last reset.
    At least one step per command keeps a generation from wrapping round to an old entry.

    Latency: 1 cycle from `start` and `step` to the outputs.

    Members
    -------
    start : In(1)         pulse: a stream was reset
    step : In(1)          pulse: `zone` was scanned; not in the cycle of `start`
    zone : Out(zone_bits) the next zone
    pending : Out(1)      zones are left to scan
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "start": In(1),
            "step": In(1),
            "zone": Out(config.geometry.zone_bits),
            "pending": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        zones = self.config.geometry.zones
        left = Signal(range(zones + 1))
        with m.If(self.start):
            m.d.sync += [left.eq(zones), self.pending.eq(1)]
        with m.Elif(self.step):
            m.d.sync += [
                left.eq(left - 1),
                self.pending.eq(left != 1),
                self.zone.eq(Mux(self.zone == zones - 1, 0, self.zone + 1)),
            ]
        return m


class ZoneAge(wiring.Component):
    """Compares the time of a zone's oldest data with the time of day.

    Registers hold, for each class and for the chosen one, the times before which data are due and expired.
    So there is one subtraction between `since` and the outputs. Differences count modulo 2^32: data from the
    future are fresh.

    Latency: 3 cycles from `time`, 2 from `retention`, 1 from `since`.

    Members
    -------
    time : In(32)      seconds
    since : In(32)     of the oldest data
    retention : In(2)  Retention; data of any other value never age
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
        ages = Signal()
        m.d.sync += ages.eq(self.retention <= max(Retention))
        for name, output in (("due", self.due), ("limit", self.expired)):
            seconds = {which: getattr(which, name) for which in Retention}
            before = {
                which: Signal(TIME_BITS, init=-age % (1 << TIME_BITS), name=f"{name}_{which.name.lower()}")
                for which, age in seconds.items()
            }
            m.d.sync += [before[which].eq(self.time - age) for which, age in seconds.items()]
            chosen, passed = (Signal(TIME_BITS, name=f"{name}_{part}") for part in ("chosen", "passed"))
            m.d.sync += chosen.eq(Array(before.values())[self.retention])
            m.d.comb += passed.eq(chosen - self.since)
            m.d.sync += output.eq(~passed[-1] & ages)
        return m
