"""The records of the write buffer's page sets, and the walk that looks at one after the other."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..layouts import STREAM_BITS, PageKind
from .age_order import AgeOrder


class SetRecord(data.StructLayout):
    """What a page set is told by its first page, `first`."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "zone": g.zone_bits,
            "row": g.row_bits,
            "die": g.die_bits,
            "kind": PageKind,
            "stream": STREAM_BITS,
            "first": g.plane_bits,
            "source": g.zone_bits,
            "copies": g.plane_bits + 1,
            "tag": config.tag_bits,
        })  # fmt: skip


class Visit(data.StructLayout):
    """A slot, the set in it, its `last` plane, and `filled`: planes below this one have their data."""

    def __init__(self, config: FmsConfig):
        plane_bits = config.geometry.plane_bits
        super().__init__({
            "slot": bits_for(config.write_sets),
            "record": SetRecord(config),
            "last": plane_bits,
            "filled": plane_bits + 1,
        })  # fmt: skip


class SetWalk(wiring.Component):
    """Holds a record per slot, and visits the slots in the order of their age.

    Each visit is shown twice: while it is `coming`, so that comparisons can be made in time, and one clock
    later. A slot that is renewed does not upset the walk: each is visited once.

    Latency: the first visit is coming 3 clocks after `going` rises. Throughput: one visit per clock.

    Members
    -------
    going : In(1)           while it is low no walk is under way
    backwards : In(1)       from the youngest slot, otherwise from the oldest
    following : Out         the slot of the visit after that
    coming : Out(Visit)     the next one
    visiting : Out(1)       `visit` is one
    ends : Out(1)           with it: the last one
    visit : Out(Visit)      the present one; it stays until the next walk
    pick : In(1), picked : In   shows this slot instead; of `visit` only `slot` is right
    open : In(1), record : In(SetRecord)   a new set in the slot shown, with one plane
    extend : In(1), last : In              the last plane of the set in the slot shown
    renew : In(1)           the slot shown becomes the youngest, two clocks later
    arrived : In(1), arrived_slot, arrived_plane : In   data of this plane; seen in the second clock after
    ended_slot : In, ended_first, ended_last : Out      planes of the set in some slot
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        slot_bits, plane_bits = bits_for(config.write_sets), config.geometry.plane_bits
        super().__init__({
            "going": In(1),
            "backwards": In(1),
            "following": Out(slot_bits),
            "coming": Out(Visit(config)),
            "visiting": Out(1),
            "ends": Out(1),
            "visit": Out(Visit(config)),
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
        # Memories have no words of no bits, which a die of one plane would need.
        m.submodules.lasts = lasts = Memory(shape=max(1, plane_bits), depth=count, init=[])
        open_record, extend = records.write_port(), lasts.write_port()
        record, ended = (records.read_port(domain="comb") for _ in range(2))
        last, ended_last = (lasts.read_port(domain="comb") for _ in range(2))
        filled = Signal(data.ArrayLayout(plane_bits + 1, count))
        m.d.comb += [
            open_record.addr.eq(self.visit.slot),
            open_record.data.eq(self.record),
            open_record.en.eq(self.open),
            extend.addr.eq(self.visit.slot),
            extend.data.eq(self.last),
            extend.en.eq(self.open | self.extend),
            ended.addr.eq(self.ended_slot),
            ended_last.addr.eq(self.ended_slot),
            self.ended_first.eq(ended.data.first),
            self.ended_last.eq(ended_last.data),
        ]
        m.d.sync += [order.renew.eq(self.renew), order.renewed.eq(self.visit.slot)]
        with m.If(self.open):
            m.d.sync += filled[self.visit.slot].eq(0)
        fills, filled_slot, filled_plane = Signal(), Signal(slot_bits), Signal(plane_bits)
        m.d.sync += [
            fills.eq(self.arrived),
            filled_slot.eq(self.arrived_slot),
            filled_plane.eq(self.arrived_plane),
        ]
        with m.If(fills):
            m.d.sync += filled[filled_slot].eq(filled_plane + 1)

        # The slot that is next; its record on the way; coming; visited.
        position, from_end = Signal(range(count)), Signal(range(count), init=count - 1)
        left = Signal(range(count + 1))
        oldest, youngest = Signal(slot_bits), Signal(slot_bits)  # that is left
        slot, slot_valid, slot_last = Signal(slot_bits), Signal(), Signal()
        coming_valid, coming_last = Signal(), Signal()
        m.d.comb += [
            order.position.eq(position),
            order.other_position.eq(from_end),
            self.following.eq(slot),
            slot.eq(Mux(self.backwards, youngest, oldest)),
            record.addr.eq(slot),
            last.addr.eq(slot),
        ]
        m.d.sync += [
            oldest.eq(order.slot),
            youngest.eq(order.other_slot),
            slot_valid.eq(self.going & (left != 0)),
            slot_last.eq(left == 1),
            self.coming.slot.eq(slot),
            self.coming.record.eq(record.data),
            self.coming.last.eq(last.data),
            self.coming.filled.eq(filled[slot]),
            coming_valid.eq(self.going & slot_valid),
            coming_last.eq(slot_last),
            self.visit.eq(self.coming),
            self.visiting.eq(self.going & coming_valid),
            self.ends.eq(coming_last),
        ]
        with m.If(~self.going):
            m.d.sync += [position.eq(0), from_end.eq(count - 1), left.eq(count)]
        with m.Elif(left != 0):
            m.d.sync += [from_end.eq(from_end - 1), left.eq(left - 1)]
            # Those behind a renewed slot move up.
            with m.If(~order.renew):
                m.d.sync += position.eq(position + 1)
        with m.If(self.pick):
            m.d.sync += self.visit.slot.eq(self.picked)
        return m
