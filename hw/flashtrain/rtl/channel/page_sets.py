"""Which page sets the write buffer holds, where they belong, and what happens to each next."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..arbiter import RoundRobin
from ..layouts import STREAM_BITS, PageKind, PageSet, WritePage
from .age_order import AgeOrder


class SetState(enum.Enum, shape=2):
    """The life of a slot."""

    FREE = 0
    OPEN = 1  # pages are still announced for it
    CLOSED = 2  # no more pages will come
    HANDED_OUT = 3  # offered to its agent, or with it


class SetRecord(data.StructLayout):
    """What is known of the page set in a slot; its planes are `first` to `last`."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "zone": g.zone_bits,
            "row": g.row_bits,
            "die": g.die_bits,
            "kind": PageKind,
            "stream": STREAM_BITS,
            "first": g.plane_bits,
            "last": g.plane_bits,
            "source": g.zone_bits,
            "copies": g.plane_bits + 1,
            "tag": config.tag_bits,
        })  # fmt: skip


OPENED_WITH = ("zone", "row", "die", "kind", "stream", "source", "copies", "tag")
"""What a set is told by its first page."""

HANDED_ON = ("zone", "row", "kind", "first", "last", "source", "copies", "tag")
"""What its agent is told of it."""


class PagePlace(data.StructLayout):
    """A page that a read asks for."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({"zone": g.zone_bits, "row": g.row_bits, "die": g.die_bits, "plane": g.plane_bits})


class PageSets(wiring.Component):
    """Bookkeeping of the write buffer: places announced pages, closes sets, offers them to their agents.

    One request at a time, as a walk over the slots at one slot per clock, because pages come and go far more
    seldom than clocks. A slot becomes the youngest when it is opened and when it is closed, so that the open
    ones stand in the order of opening and the closed ones in the order of closing.

    A set is closed when its last plane or a page with `close` is announced, when its stream is flushed, and,
    the oldest open one, when a page needs room and no slot is free: one set for each such page.

    Only sets of DATA hold what can be read, and are discarded or closed for others' sake.

    Latency: a page is accepted 1 clock after it is offered if its set is the youngest, after `write_sets` + 2
    if it opens a set; a lookup is answered within `write_sets`. What goes before adds its own walk.

    Members
    -------
    pages : In(stream(WritePage))        accepted when there is a place for it in slot
    slot : Out                           this one, while `pages` is accepted
    arrived : In(1), arrived_slot, arrived_plane : In   the data of this page is in the memory
    lookup : In(stream(PagePlace))       accepted with the answer, once the page's data is here
    hit : Out(1), hit_slot : Out         the answer: in the buffer, and pinned there until `unpin`
    unpin : In(1)
    sets : Out(stream(PageSet)).array(dies)   closed sets whose data is complete, in the order of closing
    ended : In(1), ended_slot : In       this set's program is over: the slot is free
    ended_first, ended_last : Out        planes of the set in `ended_slot`
    flush : In(stream(STREAM_BITS))      closes the stream's open sets
    flushed : Out(1)                     pulse: all sets that the stream had are programmed or discarded
    discard : In(stream(zone))           accepted when all data of the zone but the agents' is gone
    busy : Out(1)                        a set is closed or handed out
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        slot_bits = bits_for(config.write_sets)
        super().__init__({
            "pages": In(stream.Signature(WritePage(config))),
            "slot": Out(slot_bits),
            "arrived": In(1),
            "arrived_slot": In(slot_bits),
            "arrived_plane": In(g.plane_bits),
            "lookup": In(stream.Signature(PagePlace(config))),
            "hit": Out(1),
            "hit_slot": Out(slot_bits),
            "unpin": In(1),
            "sets": Out(stream.Signature(PageSet(config))).array(g.dies),
            "ended": In(1),
            "ended_slot": In(slot_bits),
            "ended_first": Out(g.plane_bits),
            "ended_last": Out(g.plane_bits),
            "flush": In(stream.Signature(STREAM_BITS)),
            "flushed": Out(1),
            "discard": In(stream.Signature(g.zone_bits)),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g, count = self.config, self.config.geometry, self.config.write_sets

        m.submodules.records = records = Memory(shape=SetRecord(config), depth=count, init=[])
        write, read, ended = records.write_port(), *(records.read_port(domain="comb") for _ in range(2))
        states = Signal(data.ArrayLayout(SetState, count))
        filled = Signal(data.ArrayLayout(g.plane_bits + 1, count))  # planes below this one have their data

        # The slot that the walk visits, and what is known of it.
        m.submodules.order = order = AgeOrder(count)
        position, slot = Signal(range(count)), order.slot
        visits = Signal(range(count))
        last_visit = visits == count - 1
        state, whole, is_pinned = Signal(SetState), Signal(), Signal()
        record = read.data
        is_data = record.kind == PageKind.DATA
        pinned, pinned_slot = Signal(), Signal.like(slot)
        m.d.comb += [
            order.position.eq(position),
            state.eq(states[slot]),
            read.addr.eq(slot),
            write.addr.eq(slot),
            whole.eq(filled[slot] > record.last),
            is_pinned.eq(pinned & (pinned_slot == slot)),
            self.slot.eq(slot),
            self.hit_slot.eq(slot),
        ]

        def begin(at: int) -> list:
            return [position.eq(at), visits.eq(0)]

        def go_on(step: int) -> list:
            return [position.eq(position + step), visits.eq(visits + 1)]

        m.submodules.turn = turn = RoundRobin(4)
        unsettled = Signal()  # a closed set may have become ready for its agent
        page, asked = self.pages.payload, self.lookup.payload
        closing = page.close | (page.plane == g.planes - 1)
        room = Signal(init=1)  # something may have become free since the page found no place
        evicted = Signal()  # the page has closed another's set already
        candidate, found_free, found_open = Signal.like(position), Signal(), Signal()
        blocked = Signal(g.dies)  # an older closed set of the die goes first
        waiting, flushing = Signal(count), Signal()
        kept = Signal()  # the walk met a set that cannot be discarded yet
        asking = (
            self.pages.valid & room,
            self.lookup.valid,
            self.flush.valid & ~flushing,
            self.discard.valid,
        )
        m.d.comb += turn.requests.eq(Cat(asking))

        with m.FSM(name="page_sets"):
            with m.State("IDLE"):
                m.d.sync += begin(0)
                with m.If(unsettled):
                    m.d.sync += [unsettled.eq(0), blocked.eq(0)]
                    m.next = "OFFER"
                with m.Else():
                    m.d.comb += turn.advance.eq(turn.requests.any())
                    with m.If(turn.chosen[0]):
                        m.d.sync += [*begin(count - 1), room.eq(0), found_free.eq(0), found_open.eq(0)]
                        m.next = "PLACE"
                    with m.If(turn.chosen[1]):
                        m.next = "LOOKUP"
                    with m.If(turn.chosen[2]):
                        m.next = "FLUSH"
                    with m.If(turn.chosen[3]):
                        m.d.sync += kept.eq(0)
                        m.next = "DISCARD"

            with m.State("PLACE"):
                # From the youngest, which is the page's own set most of the time.
                m.d.sync += go_on(-1)
                with m.If((state == SetState.OPEN) & (record.kind == page.kind) & _same_set(record, page)):
                    m.d.comb += [write.data.eq(record), write.data.last.eq(page.plane), write.en.eq(1)]
                    m.d.comb += self.pages.ready.eq(1)
                    with m.If(closing):
                        m.d.comb += order.renew.eq(1)
                        m.d.sync += [states[slot].eq(SetState.CLOSED), unsettled.eq(1)]
                    m.next = "IDLE"
                with m.Else():
                    with m.If((state == SetState.FREE) & ~is_pinned):
                        m.d.sync += [candidate.eq(position), found_free.eq(1)]
                    with m.Elif((state == SetState.OPEN) & is_data & ~found_free):
                        m.d.sync += [candidate.eq(position), found_open.eq(1)]
                    with m.If(last_visit):
                        m.next = "MAKE_PLACE"

            with m.State("MAKE_PLACE"):
                m.d.sync += position.eq(candidate)
                with m.If(found_free):
                    m.next = "OPEN_SET"
                with m.Elif(found_open & ~evicted):
                    m.next = "EVICT_OLDEST"
                with m.Else():
                    m.next = "IDLE"

            with m.State("OPEN_SET"):
                for field in OPENED_WITH:
                    m.d.comb += write.data[field].eq(page[field])
                m.d.comb += [write.data.first.eq(page.plane), write.data.last.eq(page.plane), write.en.eq(1)]
                m.d.comb += [self.pages.ready.eq(1), order.renew.eq(1)]
                m.d.sync += [states[slot].eq(SetState.OPEN), filled[slot].eq(0)]
                with m.If(closing):
                    m.d.sync += [states[slot].eq(SetState.CLOSED), unsettled.eq(1)]
                m.next = "IDLE"

            with m.State("EVICT_OLDEST"):
                m.d.comb += order.renew.eq(1)
                m.d.sync += [states[slot].eq(SetState.CLOSED), unsettled.eq(1), evicted.eq(1)]
                m.next = "IDLE"

            with m.State("LOOKUP"):
                m.d.sync += go_on(+1)
                within = (record.first <= asked.plane) & (asked.plane <= record.last)
                with m.If((state != SetState.FREE) & is_data & _same_set(record, asked) & within):
                    # While its data is on the way or the pin in use, the question stays and is asked again.
                    with m.If((asked.plane < filled[slot]) & ~pinned):
                        m.d.comb += [self.lookup.ready.eq(1), self.hit.eq(1)]
                        m.d.sync += [pinned.eq(1), pinned_slot.eq(slot)]
                    m.next = "IDLE"
                with m.Elif(last_visit):
                    m.d.comb += self.lookup.ready.eq(1)
                    m.next = "IDLE"

            with m.State("OFFER"):
                m.d.sync += go_on(+1)
                for die, offer in enumerate(self.sets):
                    with m.If((state == SetState.CLOSED) & (record.die == die)):
                        m.d.sync += blocked[die].eq(1)
                        with m.If(whole & ~blocked[die] & ~offer.valid):
                            m.d.sync += [
                                offer.valid.eq(1),
                                offer.payload.slot.eq(slot),
                                states[slot].eq(SetState.HANDED_OUT),
                            ]
                            for field in HANDED_ON:
                                m.d.sync += offer.payload[field].eq(record[field])
                with m.If(last_visit):
                    m.next = "IDLE"

            with m.State("FLUSH"):
                m.d.sync += go_on(+1)
                with m.If((state != SetState.FREE) & (record.stream == self.flush.payload)):
                    m.d.sync += waiting.bit_select(slot, 1).eq(1)
                    with m.If(state == SetState.OPEN):
                        m.d.comb += order.renew.eq(1)
                        # The next one moves to this position.
                        m.d.sync += [position.eq(position), states[slot].eq(SetState.CLOSED), unsettled.eq(1)]
                with m.If(last_visit):
                    m.d.comb += self.flush.ready.eq(1)
                    m.d.sync += flushing.eq(1)
                    m.next = "IDLE"

            with m.State("DISCARD"):
                m.d.sync += go_on(+1)
                offered = Cat(offer.valid & (offer.payload.slot == slot) for offer in self.sets).any()
                ours = (state == SetState.OPEN) | (state == SetState.CLOSED)
                keep = Signal()
                with m.If((state != SetState.FREE) & is_data & (record.zone == self.discard.payload)):
                    m.d.comb += keep.eq(Mux(ours, ~whole, offered))
                    with m.If(ours & whole):
                        m.d.sync += [
                            states[slot].eq(SetState.FREE),
                            waiting.bit_select(slot, 1).eq(0),
                            room.eq(1),
                        ]
                m.d.sync += kept.eq(kept | keep)
                with m.If(last_visit):
                    m.d.comb += self.discard.ready.eq(~kept & ~keep)
                    m.next = "IDLE"

        # What happens beside the walk; it comes last because it outweighs what the walk does meanwhile.
        with m.If(self.pages.valid & self.pages.ready):
            m.d.sync += [room.eq(1), evicted.eq(0)]
        with m.If(self.unpin):
            m.d.sync += [pinned.eq(0), room.eq(1)]
        with m.If(self.arrived):
            m.d.sync += [filled[self.arrived_slot].eq(self.arrived_plane + 1), unsettled.eq(1)]
        for offer in self.sets:
            with m.If(offer.valid & offer.ready):
                m.d.sync += [offer.valid.eq(0), unsettled.eq(1)]
        m.d.comb += [
            ended.addr.eq(self.ended_slot),
            self.ended_first.eq(ended.data.first),
            self.ended_last.eq(ended.data.last),
        ]
        with m.If(self.ended):
            m.d.sync += [
                states[self.ended_slot].eq(SetState.FREE),
                waiting.bit_select(self.ended_slot, 1).eq(0),
                room.eq(1),
            ]
        m.d.comb += self.flushed.eq(flushing & ~waiting.any())
        with m.If(self.flushed):
            m.d.sync += flushing.eq(0)
        m.d.comb += self.busy.eq(Cat(states[index].as_value()[1] for index in range(count)).any())
        return m


def _same_set(record, page):
    """Whether `page` belongs to the row of pages that `record` tells of."""
    return (record.zone == page.zone) & (record.row == page.row) & (record.die == page.die)
