"""The records of the write buffer's page sets, and the scan over them in the order of their age."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS, PageKind
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for


class SetRecord(data.StructLayout):
    """The fields that a page set takes from its first page, and `first`, that page's plane."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "zone": g.zone_bits,
            "page": g.page_bits,
            "die": g.die_bits,
            "kind": PageKind,
            "stream": STREAM_BITS,
            "first": g.plane_bits,
            "source": g.zone_bits,
            "source_page": g.page_bits,
            "copies": g.plane_bits + 1,
            "tag": config.tag_bits,
        })  # fmt: skip


class ScanEntry(data.StructLayout):
    """A slot, the set in it, its `last` plane, and `filled`: planes below this one have their data."""

    def __init__(self, config: FmsConfig):
        plane_bits = config.geometry.plane_bits
        super().__init__({
            "slot": bits_for(config.write_sets),
            "record": SetRecord(config),
            "last": plane_bits,
            "filled": plane_bits + 1,
        })  # fmt: skip


class AgeOrder(wiring.Component):
    """The slots in the order of their age; any of them can be made the youngest.

    Latency: `slot` is combinational in `position`; the order changes 1 cycle after `renew`. Cost: a register
    of `count` slot numbers, two read ports.

    Members
    -------
    position : In(range(count))   0 is the oldest
    slot : Out(range(count))      the slot at this position
    other_position : In(range(count)), other_slot : Out(range(count))   a second read port
    renew : In(1)                 makes `renewed` the youngest; the slots behind it move up
    renewed : In(range(count))
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "position": In(range(count)),
            "slot": Out(range(count)),
            "other_position": In(range(count)),
            "other_slot": Out(range(count)),
            "renew": In(1),
            "renewed": In(range(count)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        slots = Signal(data.ArrayLayout(bits_for(self.count), self.count), init=list(range(self.count)))
        m.d.comb += [self.slot.eq(slots[self.position]), self.other_slot.eq(slots[self.other_position])]
        is_renewed, shifts = Signal(self.count), Signal(self.count)
        for index in range(self.count):
            m.d.comb += is_renewed[index].eq(slots[index] == self.renewed)
            # Each slot is in the order once, so the shorter half decides.
            in_front = is_renewed[: index + 1].any()
            if index >= self.count // 2:
                in_front = ~is_renewed[index + 1 :].any()
            m.d.comb += shifts[index].eq(self.renew & in_front)
        for index in range(self.count - 1):
            with m.If(shifts[index]):
                m.d.sync += slots[index].eq(slots[index + 1])
        with m.If(self.renew):
            m.d.sync += slots[self.count - 1].eq(self.renewed)
        return m


class SetScan(wiring.Component):
    """Holds a record per slot, and scans the slots in the order of their age.

    Each entry is output twice: as `next_entry`, for registered comparisons, and as `entry` one cycle later. A
    renewal does not disturb the scan: each slot is scanned once.

    Latency: the first entry is `next_entry` 3 cycles after `run` rises. Throughput: one entry per cycle.

    Members
    -------
    run : In(1)             a scan is in progress; low between scans
    backwards : In(1)       from the youngest slot, otherwise from the oldest
    following_slot : Out    the slot of the entry after `next_entry`
    next_entry : Out(ScanEntry)
    valid : Out(1)          `entry` is valid
    last_entry : Out(1)     with it: the last one
    entry : Out(ScanEntry)  the present one; it stays until the next scan
    pick : In(1), picked : In   replaces `entry.slot`; the other fields of `entry` are then invalid
    open : In(1), record : In(SetRecord)   a new set in `entry.slot`, with one plane
    extend : In(1), last : In              the last plane of the set in `entry.slot`
    renew : In(1)           `entry.slot` becomes the youngest, 2 cycles later
    arrived : In(1), arrived_slot, arrived_plane : In   data of this plane; in entries 2 cycles later
    ended_slot : In, ended_first, ended_last : Out      planes of the set in this slot
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        slot_bits, plane_bits = bits_for(config.write_sets), config.geometry.plane_bits
        super().__init__({
            "run": In(1),
            "backwards": In(1),
            "following_slot": Out(slot_bits),
            "next_entry": Out(ScanEntry(config)),
            "valid": Out(1),
            "last_entry": Out(1),
            "entry": Out(ScanEntry(config)),
            "pick": In(1),
            "picked": In(slot_bits),
            "open": In(1),
            "record": In(SetRecord(config)),
            "extend": In(1),
            "last": In(plane_bits),
            "renew": In(1),
            "arrived": In(1),
            "arrived_slot": In(slot_bits),
            "arrived_plane": In(plane_bits),
            "ended_slot": In(slot_bits),
            "ended_first": Out(plane_bits),
            "ended_last": Out(plane_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, count = self.config, self.config.write_sets
        slot_bits, plane_bits = bits_for(count), config.geometry.plane_bits

        m.submodules.order = order = AgeOrder(count)
        m.submodules.records = records = Memory(shape=SetRecord(config), depth=count, init=[])
        # A memory needs words of at least one bit, also for a die of one plane.
        m.submodules.lasts = lasts = Memory(shape=max(1, plane_bits), depth=count, init=[])
        open_record, extend = records.write_port(), lasts.write_port()
        record, ended = (records.read_port(domain="comb") for _ in range(2))
        last, ended_last = (lasts.read_port(domain="comb") for _ in range(2))
        filled = Signal(data.ArrayLayout(plane_bits + 1, count))
        m.d.comb += [
            open_record.addr.eq(self.entry.slot),
            open_record.data.eq(self.record),
            open_record.en.eq(self.open),
            extend.addr.eq(self.entry.slot),
            extend.data.eq(self.last),
            extend.en.eq(self.open | self.extend),
            ended.addr.eq(self.ended_slot),
            ended_last.addr.eq(self.ended_slot),
            self.ended_first.eq(ended.data.first),
            self.ended_last.eq(ended_last.data),
        ]
        m.d.sync += [order.renew.eq(self.renew), order.renewed.eq(self.entry.slot)]
        with m.If(self.open):
            m.d.sync += filled[self.entry.slot].eq(0)
        fills, filled_slot, filled_plane = Signal(), Signal(slot_bits), Signal(plane_bits)
        m.d.sync += [
            fills.eq(self.arrived),
            filled_slot.eq(self.arrived_slot),
            filled_plane.eq(self.arrived_plane),
        ]
        with m.If(fills):
            m.d.sync += filled[filled_slot].eq(filled_plane + 1)

        # Stages: the slot; its record; the next entry; the entry.
        position, from_end = Signal(range(count)), Signal(range(count), init=count - 1)
        left = Signal(range(count + 1))
        oldest, youngest = Signal(slot_bits), Signal(slot_bits)  # of those left
        slot, slot_valid, slot_last = Signal(slot_bits), Signal(), Signal()
        next_valid, next_last = Signal(), Signal()
        m.d.comb += [
            order.position.eq(position),
            order.other_position.eq(from_end),
            self.following_slot.eq(slot),
            slot.eq(Mux(self.backwards, youngest, oldest)),
            record.addr.eq(slot),
            last.addr.eq(slot),
        ]
        m.d.sync += [
            oldest.eq(order.slot),
            youngest.eq(order.other_slot),
            slot_valid.eq(self.run & (left != 0)),
            slot_last.eq(left == 1),
            self.next_entry.slot.eq(slot),
            self.next_entry.record.eq(record.data),
            self.next_entry.last.eq(last.data),
            self.next_entry.filled.eq(filled[slot]),
            next_valid.eq(self.run & slot_valid),
            next_last.eq(slot_last),
            self.entry.eq(self.next_entry),
            self.valid.eq(self.run & next_valid),
            self.last_entry.eq(next_last),
        ]
        with m.If(~self.run):
            m.d.sync += [position.eq(0), from_end.eq(count - 1), left.eq(count)]
        with m.Elif(left != 0):
            m.d.sync += [from_end.eq(from_end - 1), left.eq(left - 1)]
            # The slots behind a renewed one move up.
            with m.If(~order.renew):
                m.d.sync += position.eq(position + 1)
        with m.If(self.pick):
            m.d.sync += self.entry.slot.eq(self.picked)
        return m
