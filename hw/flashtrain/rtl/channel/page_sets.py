"""Which page sets the write buffer holds, where they belong, and what happens to each next."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..arbiter import RoundRobin
from ..layouts import STREAM_BITS, PageKind, PageSet, WritePage
from .set_walk import SetWalk


class SetState(enum.Enum, shape=2):
    """The life of a slot."""

    FREE = 0
    OPEN = 1  # pages are still announced for it
    CLOSED = 2  # no more pages will come
    HANDED_OUT = 3  # offered to its agent, or with it


OPENED_WITH = ("zone", "row", "die", "kind", "stream", "source", "copies", "tag")
"""What a set is told by its first page."""

HANDED_ON = ("zone", "row", "kind", "first", "source", "copies", "tag")
"""What its agent is told of it."""


class PagePlace(data.StructLayout):
    """A page that a read asks for."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({"zone": g.block_bits, "row": g.row_bits, "die": g.die_bits, "plane": g.plane_bits})


class PageSets(wiring.Component):
    """Bookkeeping of the write buffer: places announced pages, closes sets, offers them to their agents.

    One request at a time, as a walk over the slots at one slot per clock, because pages come and go far more
    seldom than clocks. A slot becomes the youngest when it is opened and when it is closed, so that the open
    ones stand in the order of opening and the closed ones in the order of closing.

    A set is closed when its last plane or a page with `close` is announced, when its stream is flushed, and,
    the oldest open one, when a page needs room and no slot is free: one set for each such page.

    Only sets of DATA hold what can be read, and are discarded or closed for others' sake.

    Latency: a page is accepted 5 clocks after it is offered if its set is the youngest, after
    `write_sets` + 6 if it opens a set; a lookup is answered within `write_sets` + 3. What goes before adds
    its own walk.

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
            "discard": In(stream.Signature(g.block_bits)),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g, count = self.config, self.config.geometry, self.config.write_sets
        page, asked = self.pages.payload, self.lookup.payload

        m.submodules.walk = walk = SetWalk(config)
        visiting, slot, record = walk.visiting, walk.visit.slot, walk.visit.record
        states = Signal(data.ArrayLayout(SetState, count))
        pinned, pinned_slot = Signal(), Signal.like(slot)
        m.d.comb += [
            self.hit_slot.eq(slot),
            walk.last.eq(page.plane),
            walk.record.first.eq(page.plane),
            *(walk.record[field].eq(page[field]) for field in OPENED_WITH),
            walk.arrived.eq(self.arrived),
            walk.arrived_slot.eq(self.arrived_slot),
            walk.arrived_plane.eq(self.arrived_plane),
            walk.ended_slot.eq(self.ended_slot),
            self.ended_first.eq(walk.ended_first),
            self.ended_last.eq(walk.ended_last),
        ]

        # What is asked of a set, found out while its visit is coming.
        state, state_next = Signal(SetState), Signal(SetState)
        whole, is_offered = Signal(), Signal()
        usable, evictable, joins = Signal(), Signal(), Signal()  # for the page
        of_stream, discarded = Signal(), Signal()
        holds_asked, has_asked = Signal(), Signal()  # the page that a read asks for, and its data
        goes_to = Signal(g.dies)  # the die of a closed set
        coming = walk.coming
        is_data = coming.record.kind == PageKind.DATA
        is_open, is_closed = state_next == SetState.OPEN, state_next == SetState.CLOSED
        is_used = state_next != SetState.FREE
        offered = Signal(g.dies)  # a set is, a clock ago
        m.d.sync += offered.eq(Cat(one.valid for one in self.sets))
        over, over_slot = Signal(), Signal.like(slot)  # a program, a clock ago
        m.d.sync += [over.eq(self.ended), over_slot.eq(self.ended_slot)]
        state_coming = Signal(SetState)  # nothing but the end of a program changes it before its visit
        m.d.sync += state_coming.eq(states[walk.following])
        with m.If(over & (over_slot == walk.following)):
            m.d.sync += state_coming.eq(SetState.FREE)
        m.d.comb += state_next.eq(state_coming)
        with m.If(over & (over_slot == coming.slot)):
            m.d.comb += state_next.eq(SetState.FREE)
        m.d.sync += [
            state.eq(state_next),
            whole.eq(coming.filled > coming.last),
            is_offered.eq(
                Cat(
                    is_one & (one.payload.slot == coming.slot)
                    for is_one, one in zip(offered, self.sets, strict=True)
                ).any()
            ),
            usable.eq(~is_used & ~(pinned & (pinned_slot == coming.slot))),
            evictable.eq(is_open & is_data),
            joins.eq(is_open & (coming.record.kind == page.kind) & _same_row(coming.record, page)),
            discarded.eq(is_used & is_data & (coming.record.zone == self.discard.payload)),
            of_stream.eq(is_used & (coming.record.stream == self.flush.payload)),
            holds_asked.eq(
                is_used
                & is_data
                & _same_row(coming.record, asked)
                & (coming.record.first <= asked.plane)
                & (asked.plane <= coming.last)
            ),
            has_asked.eq(asked.plane < coming.filled),
            goes_to.eq(Cat(is_closed & (coming.record.die == die) for die in range(g.dies))),
        ]

        # What becomes of the set that is visited, a clock later.
        changes, changed_slot, changed_to = Signal(), Signal.like(slot), Signal(SetState)
        gives, given = Signal(g.dies), Signal(PageSet(config))  # a set to its agent
        m.d.sync += [
            changes.eq(0),
            changed_slot.eq(slot),
            gives.eq(0),
            given.slot.eq(slot),
            given.last.eq(walk.visit.last),
            *(given[field].eq(record[field]) for field in HANDED_ON),
        ]
        m.d.comb += self.slot.eq(changed_slot)

        def change_to(new_state: SetState) -> None:
            m.d.sync += [changes.eq(1), changed_to.eq(new_state)]

        with m.If(changes):
            m.d.sync += states[changed_slot].eq(changed_to)

        m.submodules.turn = turn = RoundRobin(4)
        unsettled = Signal()  # a closed set may have become ready for its agent
        accepted = Signal()  # an offer was, a clock ago
        closing = page.close | (page.plane == g.planes - 1)
        room = Signal(init=1)  # something may have become free since the page found no place
        evicted = Signal()  # the page has closed another's set already
        candidate, found_free, found_open = Signal.like(slot), Signal(), Signal()
        blocked = Signal(g.dies)  # an older closed set of the die goes first
        waiting, flushing = Signal(count), Signal()
        kept = Signal()  # the walk met a set that cannot be discarded yet
        discards = Signal()  # something is to be, a clock ago
        asking = (
            self.pages.valid & room,
            self.lookup.valid,
            self.flush.valid & ~flushing,
            discards,
        )
        m.d.comb += [turn.requests.eq(Cat(asking)), walk.picked.eq(candidate)]

        with m.FSM(name="page_sets") as fsm:
            with m.State("IDLE"):
                with m.If(unsettled):
                    m.d.sync += [unsettled.eq(0), blocked.eq(0)]
                    m.next = "OFFER"
                with m.Else():
                    m.d.comb += turn.advance.eq(turn.requests.any())
                    with m.If(turn.chosen[0]):
                        m.d.sync += [room.eq(0), found_free.eq(0), found_open.eq(0)]
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
                m.d.comb += walk.backwards.eq(1)
                with m.If(visiting & joins):
                    m.d.comb += walk.extend.eq(1)
                    with m.If(closing):
                        m.d.comb += walk.renew.eq(1)
                        m.d.sync += unsettled.eq(1)
                        change_to(SetState.CLOSED)
                    m.next = "ACCEPT"
                with m.Elif(visiting):
                    with m.If(usable):
                        m.d.sync += [candidate.eq(slot), found_free.eq(1)]
                    with m.Elif(evictable & ~found_free):
                        m.d.sync += [candidate.eq(slot), found_open.eq(1)]
                    with m.If(walk.ends):
                        m.next = "MAKE_PLACE"

            with m.State("MAKE_PLACE"):
                m.d.comb += walk.pick.eq(1)
                with m.If(found_free):
                    m.next = "OPEN_SET"
                with m.Elif(found_open & ~evicted):
                    m.next = "EVICT_OLDEST"
                with m.Else():
                    m.next = "IDLE"

            with m.State("OPEN_SET"):
                m.d.comb += [walk.open.eq(1), walk.renew.eq(1)]
                change_to(SetState.OPEN)
                with m.If(closing):
                    m.d.sync += unsettled.eq(1)
                    change_to(SetState.CLOSED)
                m.next = "ACCEPT"

            with m.State("ACCEPT"):
                m.d.comb += self.pages.ready.eq(1)
                m.d.sync += [room.eq(1), evicted.eq(0)]
                m.next = "IDLE"

            with m.State("EVICT_OLDEST"):
                m.d.comb += walk.renew.eq(1)
                m.d.sync += [unsettled.eq(1), evicted.eq(1)]
                change_to(SetState.CLOSED)
                m.next = "IDLE"

            with m.State("LOOKUP"):
                with m.If(visiting & holds_asked):
                    # While its data is on the way or the pin in use, the question stays and is asked again.
                    with m.If(has_asked & ~pinned):
                        m.d.comb += [self.lookup.ready.eq(1), self.hit.eq(1)]
                        m.d.sync += [pinned.eq(1), pinned_slot.eq(slot)]
                    m.next = "IDLE"
                with m.Elif(visiting & walk.ends):
                    m.d.comb += self.lookup.ready.eq(1)
                    m.next = "IDLE"

            with m.State("OFFER"):
                for die in range(g.dies):
                    with m.If(visiting & goes_to[die]):
                        m.d.sync += blocked[die].eq(1)
                        with m.If(whole & ~blocked[die] & ~offered[die]):
                            m.d.sync += gives[die].eq(1)
                            change_to(SetState.HANDED_OUT)
                with m.If(visiting & walk.ends):
                    m.next = "IDLE"

            with m.State("FLUSH"):
                with m.If(visiting & of_stream):
                    m.d.sync += waiting.bit_select(slot, 1).eq(1)
                    with m.If(state == SetState.OPEN):
                        m.d.comb += walk.renew.eq(1)
                        m.d.sync += unsettled.eq(1)
                        change_to(SetState.CLOSED)
                with m.If(visiting & walk.ends):
                    m.d.comb += self.flush.ready.eq(1)
                    m.d.sync += flushing.eq(1)
                    m.next = "IDLE"

            with m.State("DISCARD"):
                ours = (state == SetState.OPEN) | (state == SetState.CLOSED)
                with m.If(visiting & discarded):
                    with m.If(Mux(ours, ~whole, is_offered)):
                        m.d.sync += kept.eq(1)
                    with m.If(ours & whole):
                        m.d.sync += [waiting.bit_select(slot, 1).eq(0), room.eq(1)]
                        change_to(SetState.FREE)
                with m.If(visiting & walk.ends):
                    m.next = "DISCARDED"

            with m.State("DISCARDED"):
                m.next = "IDLE"
                with m.If(~kept):
                    m.next = "ACCEPT_DISCARD"

            with m.State("ACCEPT_DISCARD"):
                m.d.comb += self.discard.ready.eq(1)
                m.next = "IDLE"
        m.d.sync += discards.eq(self.discard.valid & ~self.discard.ready)
        m.d.comb += walk.going.eq(~fsm.ongoing("IDLE"))

        # What happens beside the walk; it comes last because it outweighs what the walk does meanwhile.
        with m.If(self.unpin):
            m.d.sync += [pinned.eq(0), room.eq(1)]
        with m.If(self.arrived):
            m.d.sync += unsettled.eq(1)
        for offer, gets in zip(self.sets, gives, strict=True):
            with m.If(gets):
                m.d.sync += [offer.valid.eq(1), offer.payload.eq(given)]
            with m.If(offer.valid & offer.ready):
                m.d.sync += offer.valid.eq(0)
        with m.If(accepted):
            m.d.sync += unsettled.eq(1)
        m.d.sync += accepted.eq(Cat(offer.valid & offer.ready for offer in self.sets).any())
        with m.If(over):
            m.d.sync += [
                states[over_slot].eq(SetState.FREE),
                waiting.bit_select(over_slot, 1).eq(0),
                room.eq(1),
            ]
        m.d.comb += self.flushed.eq(flushing & ~waiting.any())
        with m.If(self.flushed):
            m.d.sync += flushing.eq(0)
        m.d.comb += self.busy.eq(Cat(states[index].as_value()[1] for index in range(count)).any())
        return m


def _same_row(record, page):
    """Whether `page` belongs to the row of pages that `record` tells of."""
    return (record.zone == page.zone) & (record.row == page.row) & (record.die == page.die)
