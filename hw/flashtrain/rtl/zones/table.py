"""The logical zone table: one entry per zone of the streams."""

from amaranth import Array, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SEQUENCE_BITS, STREAM_BITS, TIME_BITS
from flashtrain.spec import FmsConfig, ZoneState
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS

GENERATION_BITS = PageIdentity.generation.width


class Placement(data.StructLayout):
    """A physical zone, as it was allocated for a logical one."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "zone": config.geometry.zone_bits,
            "sequence": PageIdentity.sequence.width,  # number of the allocation
            "wear": PageIdentity.wear.width,  # of the zone
        })  # fmt: skip


class ZoneEntry(data.StructLayout):
    """What is known of a logical zone."""

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
        })  # fmt: skip


class ZoneTable(wiring.Component):
    """The logical zone table, as the streams' generations make it look.

    An entry of another generation than its stream's is *stale*: the zone is empty, whatever the entry says,
    unless it is read-only or offline, which no reset undoes.

    One read port and one write port. Latency: an entry is out one clock after its zone was selected, as it
    was before a write in the clock of the selection. After reset all zones are made empty, one per clock;
    `ready` then rises.

    Members
    -------
    generations : In(16).array(8)   current generation of each stream
    zone : In(zone_bits)            logical zone to read
    entry : Out(ZoneEntry)          the zone's entry; a stale one reads as empty and unmapped
    stale : Out(1)                  the entry is stale and should be cleared
    reclaim : Out(1)                it also still holds `entry.placement`
    write : In(1)                   store `write_entry` as the entry of `write_zone`
    ready : Out(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        zone_bits = config.geometry.zone_bits
        super().__init__({
            "generations": In(GENERATION_BITS).array(MAX_STREAMS),
            "zone": In(zone_bits),
            "entry": Out(ZoneEntry(config)),
            "stale": Out(1),
            "reclaim": Out(1),
            "write": In(1),
            "write_zone": In(zone_bits),
            "write_entry": In(ZoneEntry(config)),
            "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        zones = self.config.geometry.zones
        m.submodules.entries = entries = Memory(shape=ZoneEntry(self.config), depth=zones, init=[])
        read = entries.read_port()
        write = entries.write_port()

        stored = read.data
        survives = (stored.state == ZoneState.READ_ONLY) | (stored.state == ZoneState.OFFLINE)
        m.d.comb += [
            read.addr.eq(self.zone),
            self.stale.eq((stored.generation != Array(self.generations)[stored.stream]) & ~survives),
            self.reclaim.eq(self.stale & stored.mapped),
            self.entry.eq(stored),
        ]
        with m.If(self.stale):
            m.d.comb += [
                self.entry.state.eq(ZoneState.EMPTY),
                self.entry.mapped.eq(0),
                self.entry.pointer.eq(0),
            ]

        swept = Signal(range(zones))
        with m.If(self.ready):
            m.d.comb += [
                write.en.eq(self.write),
                write.addr.eq(self.write_zone),
                write.data.eq(self.write_entry),
            ]
        with m.Else():
            m.d.comb += [write.en.eq(1), write.addr.eq(swept), write.data.state.eq(ZoneState.EMPTY)]
            m.d.sync += [swept.eq(swept + 1), self.ready.eq(swept == zones - 1)]
        return m
