"""The write buffer's page sets: allocation, closing, and the offers to the dies' agents."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS, PageKind, PageSet, WritePage
from flashtrain.rtl.lib.streams import RoundRobin
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from .set_scan import SetScan


class SetState(enum.Enum, shape=2):
    """The life of a slot."""

    FREE = 0
    OPEN = 1  # pages are still allocated in it
    CLOSED = 2  # no more pages will come
    HANDED_OUT = 3  # offered to its agent, or with it


OPENED_WITH = ("zone", "page", "die", "kind", "stream", "source", "copies", "tag")
"""Fields that a set takes from its first page, besides the page of its source."""

HANDED_ON = ("zone", "page", "kind", "first", "source", "source_page", "copies", "tag")
"""Fields that its agent gets."""


class PagePlace(data.StructLayout):
    """The place of a page that a read looks up."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__(
            {"zone": g.block_bits, "page": g.page_bits, "die": g.die_bits, "plane": g.plane_bits}
        )


class _Comparisons:
    """Registered comparisons of the scan's entry with the requests, made while it is `next_entry`."""

    def __init__(self, dies: int):
        self.state = Signal(SetState)
        self.complete = Signal()  # the data of all its planes are here
        self.is_offered = Signal()
        self.usable, self.evictable, self.joins = Signal(), Signal(), Signal()  # for the page
        self.of_stream = Signal()  # for the flush
        self.discarded = Signal()
        # the page that a read looks up; its data
        self.holds_lookup = Signal()
        self.has_data = Signal()
        self.closed_of_die = Signal(dies)


class _Registers:
    """The state that the phases share."""

    def __init__(self, config: FmsConfig):
        count, dies = config.write_sets, config.geometry.dies
        slot_bits = bits_for(count)
        self.states = Signal(data.ArrayLayout(SetState, count))
        self.pinned = Signal()
        self.pinned_slot = Signal(slot_bits)
        # The change of state that the entry gets a cycle later.
        self.changes, self.changed_slot, self.changed_to = Signal(), Signal(slot_bits), Signal(SetState)
        # to its agent, likewise
        self.offers = Signal(dies)
        self.offered_set = Signal(PageSet(config))
        self.offered = Signal(dies)  # `sets` valid, a cycle ago
        # `ended`, a cycle ago
        self.freed = Signal()
        self.freed_slot = Signal(slot_bits)
        self.offer_due = Signal()  # a closed set may have become ready for its agent
        self.room = Signal(init=1)  # a slot may have become free since the page found none
        self.evicted = Signal()  # the page has closed another's set already
        self.candidate, self.found_free, self.found_open = Signal(slot_bits), Signal(), Signal()
        self.blocked = Signal(dies)  # an older closed set of the die goes first
        # slots that the flush waits for
        self.flush_pending = Signal(count)
        self.flushing = Signal()
        self.kept = Signal()  # the scan met a set that cannot be discarded yet

    def change_to(self, m: Module, new_state: SetState) -> None:
        m.d.sync += [self.changes.eq(1), self.changed_to.eq(new_state)]


class PageSets(wiring.Component):
    """Bookkeeping of the write buffer: places pages, closes sets, offers them to their agents.

    The unit serves one request at a time with a scan over the slots, one slot per cycle. A slot becomes the
    youngest when it is opened and when it is closed. So the open ones stand in the order of opening, and the
    closed ones in the order of closing.

    A set is closed by its last plane, by a page with `close`, or by a flush of its stream. A page that finds
    no free slot closes the oldest open set, one set for each such page.

    Only sets of DATA can be looked up, discarded, or closed for another page.

    Latency: a page is accepted 5 cycles after it is offered if its set is the youngest, after
    `write_sets` + 6 if it opens a set; a lookup is answered within `write_sets` + 3. The scan of an earlier
    request adds its own time.

    Members
    -------
    pages : In(stream(WritePage))        accepted when it has a place
    slot : Out                           of the place, while `pages` is accepted
    arrived : In(1), arrived_slot, arrived_plane : In   the data of this page are in the memory
    lookup : In(stream(PagePlace))       accepted with the answer, after the page's data have arrived
    hit : Out(1), hit_slot : Out         the answer: in the buffer, in a slot that is pinned until `unpin`
    unpin : In(1)
    sets : Out(stream(PageSet)).array(dies)   closed sets with complete data, in the order of closing
    ended : In(1), ended_slot : In       pulse: this set's program has ended, and its slot is free
    ended_first, ended_last : Out        planes of the set in `ended_slot`
    flush : In(stream(STREAM_BITS))      closes the stream's open sets
    flushed : Out(1)                     pulse: all sets that the stream had are programmed or discarded
    discard : In(stream(zone))           accepted when only agents still hold data of the zone
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
        g, page = self.config.geometry, self.pages.payload
        m.submodules.scan = scan = SetScan(self.config)
        m.submodules.turn = turn = RoundRobin(4)
        sets, entry = _Registers(self.config), _Comparisons(g.dies)
        m.d.comb += [
            self.hit_slot.eq(scan.entry.slot),
            self.slot.eq(sets.changed_slot),
            scan.last.eq(page.plane),
            scan.record.first.eq(page.plane),
            *(scan.record[field].eq(page[field]) for field in OPENED_WITH),
            scan.record.source_page.eq(page.source_identity.page),
            scan.arrived.eq(self.arrived),
            scan.arrived_slot.eq(self.arrived_slot),
            scan.arrived_plane.eq(self.arrived_plane),
            scan.ended_slot.eq(self.ended_slot),
            self.ended_first.eq(scan.ended_first),
            self.ended_last.eq(scan.ended_last),
            scan.picked.eq(sets.candidate),
        ]
        m.d.sync += [
            sets.offered.eq(Cat(offer.valid for offer in self.sets)),
            sets.freed.eq(self.ended),
            sets.freed_slot.eq(self.ended_slot),
        ]
        self._compare(m, scan, sets, entry)
        m.d.sync += [
            sets.changes.eq(0),
            sets.changed_slot.eq(scan.entry.slot),
            sets.offers.eq(0),
            sets.offered_set.slot.eq(scan.entry.slot),
            sets.offered_set.last.eq(scan.entry.last),
            *(sets.offered_set[field].eq(scan.entry.record[field]) for field in HANDED_ON),
        ]
        with m.If(sets.changes):
            m.d.sync += sets.states[sets.changed_slot].eq(sets.changed_to)

        discard_pending = Signal()  # a cycle ago
        m.d.sync += discard_pending.eq(self.discard.valid & ~self.discard.ready)
        requests = (
            self.pages.valid & sets.room,
            self.lookup.valid,
            self.flush.valid & ~sets.flushing,
            discard_pending,
        )
        m.d.comb += turn.requests.eq(Cat(requests))
        with m.FSM(name="page_sets") as fsm:
            with m.State("IDLE"):
                self._start(m, turn, sets)
            self._place(m, scan, sets, entry)
            with m.State("LOOKUP"):
                self._look_up(m, scan, sets, entry)
            with m.State("OFFER"):
                self._offer(m, scan, sets, entry)
            with m.State("FLUSH"):
                self._flush(m, scan, sets, entry)
            self._discard(m, scan, sets, entry)
        m.d.comb += scan.run.eq(~fsm.ongoing("IDLE"))
        self._take_events(m, sets)
        return m

    def _compare(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        g, page, lookup = self.config.geometry, self.pages.payload, self.lookup.payload
        following, record = scan.next_entry, scan.next_entry.record
        # Only the end of a program changes a state between `following_slot` and `entry`.
        state_following, state_next = Signal(SetState), Signal(SetState)
        m.d.sync += state_following.eq(sets.states[scan.following_slot])
        with m.If(sets.freed & (sets.freed_slot == scan.following_slot)):
            m.d.sync += state_following.eq(SetState.FREE)
        m.d.comb += state_next.eq(state_following)
        with m.If(sets.freed & (sets.freed_slot == following.slot)):
            m.d.comb += state_next.eq(SetState.FREE)
        is_data = record.kind == PageKind.DATA
        is_open, is_closed = state_next == SetState.OPEN, state_next == SetState.CLOSED
        is_used = state_next != SetState.FREE
        m.d.sync += [
            entry.state.eq(state_next),
            entry.complete.eq(following.filled > following.last),
            entry.is_offered.eq(
                Cat(
                    is_offered & (offer.payload.slot == following.slot)
                    for is_offered, offer in zip(sets.offered, self.sets, strict=True)
                ).any()
            ),
            entry.usable.eq(~is_used & ~(sets.pinned & (sets.pinned_slot == following.slot))),
            entry.evictable.eq(is_open & is_data),
            entry.joins.eq(is_open & (record.kind == page.kind) & _same_page_set(record, page)),
            entry.discarded.eq(is_used & is_data & (record.zone == self.discard.payload)),
            entry.of_stream.eq(is_used & (record.stream == self.flush.payload)),
            entry.holds_lookup.eq(
                is_used
                & is_data
                & _same_page_set(record, lookup)
                & (record.first <= lookup.plane)
                & (lookup.plane <= following.last)
            ),
            entry.has_data.eq(lookup.plane < following.filled),
            entry.closed_of_die.eq(Cat(is_closed & (record.die == die) for die in range(g.dies))),
        ]

    def _start(self, m: Module, turn: RoundRobin, sets: _Registers) -> None:
        with m.If(sets.offer_due):
            m.d.sync += [sets.offer_due.eq(0), sets.blocked.eq(0)]
            m.next = "OFFER"
        with m.Else():
            m.d.comb += turn.advance.eq(turn.requests.any())
            with m.If(turn.chosen[0]):
                m.d.sync += [sets.room.eq(0), sets.found_free.eq(0), sets.found_open.eq(0)]
                m.next = "PLACE"
            with m.If(turn.chosen[1]):
                m.next = "LOOKUP"
            with m.If(turn.chosen[2]):
                m.next = "FLUSH"
            with m.If(turn.chosen[3]):
                m.d.sync += sets.kept.eq(0)
                m.next = "DISCARD"

    def _place(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        """A page joins an open set, or opens one, or closes the oldest open one to make room."""
        page = self.pages.payload
        closing = page.close | (page.plane == self.config.geometry.planes - 1)
        with m.State("PLACE"):
            # From the youngest, which is the page's own set most of the time.
            m.d.comb += scan.backwards.eq(1)
            with m.If(scan.valid & entry.joins):
                m.d.comb += scan.extend.eq(1)
                with m.If(closing):
                    m.d.comb += scan.renew.eq(1)
                    m.d.sync += sets.offer_due.eq(1)
                    sets.change_to(m, SetState.CLOSED)
                m.next = "ACCEPT"
            with m.Elif(scan.valid):
                with m.If(entry.usable):
                    m.d.sync += [sets.candidate.eq(scan.entry.slot), sets.found_free.eq(1)]
                with m.Elif(entry.evictable & ~sets.found_free):
                    m.d.sync += [sets.candidate.eq(scan.entry.slot), sets.found_open.eq(1)]
                with m.If(scan.last_entry):
                    m.next = "MAKE_PLACE"

        with m.State("MAKE_PLACE"):
            m.d.comb += scan.pick.eq(1)
            with m.If(sets.found_free):
                m.next = "OPEN_SET"
            with m.Elif(sets.found_open & ~sets.evicted):
                m.next = "EVICT_OLDEST"
            with m.Else():
                m.next = "IDLE"

        with m.State("OPEN_SET"):
            m.d.comb += [scan.open.eq(1), scan.renew.eq(1)]
            sets.change_to(m, SetState.OPEN)
            with m.If(closing):
                m.d.sync += sets.offer_due.eq(1)
                sets.change_to(m, SetState.CLOSED)
            m.next = "ACCEPT"

        with m.State("ACCEPT"):
            m.d.comb += self.pages.ready.eq(1)
            m.d.sync += [sets.room.eq(1), sets.evicted.eq(0)]
            m.next = "IDLE"

        with m.State("EVICT_OLDEST"):
            m.d.comb += scan.renew.eq(1)
            m.d.sync += [sets.offer_due.eq(1), sets.evicted.eq(1)]
            sets.change_to(m, SetState.CLOSED)
            m.next = "IDLE"

    def _look_up(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        with m.If(scan.valid & entry.holds_lookup):
            # The request stays, and is served again, while data are outstanding or the pin is in use.
            with m.If(entry.has_data & ~sets.pinned):
                m.d.comb += [self.lookup.ready.eq(1), self.hit.eq(1)]
                m.d.sync += [sets.pinned.eq(1), sets.pinned_slot.eq(scan.entry.slot)]
            m.next = "IDLE"
        with m.Elif(scan.valid & scan.last_entry):
            m.d.comb += self.lookup.ready.eq(1)
            m.next = "IDLE"

    def _offer(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        """Offer each agent its oldest closed set, if its data are complete."""
        for die in range(self.config.geometry.dies):
            with m.If(scan.valid & entry.closed_of_die[die]):
                m.d.sync += sets.blocked[die].eq(1)
                with m.If(entry.complete & ~sets.blocked[die] & ~sets.offered[die]):
                    m.d.sync += sets.offers[die].eq(1)
                    sets.change_to(m, SetState.HANDED_OUT)
        with m.If(scan.valid & scan.last_entry):
            m.next = "IDLE"

    def _flush(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        """Close the stream's open sets, and note all its sets."""
        with m.If(scan.valid & entry.of_stream):
            m.d.sync += sets.flush_pending.bit_select(scan.entry.slot, 1).eq(1)
            with m.If(entry.state == SetState.OPEN):
                m.d.comb += scan.renew.eq(1)
                m.d.sync += sets.offer_due.eq(1)
                sets.change_to(m, SetState.CLOSED)
        with m.If(scan.valid & scan.last_entry):
            m.d.comb += self.flush.ready.eq(1)
            m.d.sync += sets.flushing.eq(1)
            m.next = "IDLE"

    def _discard(self, m: Module, scan: SetScan, sets: _Registers, entry: _Comparisons) -> None:
        """Free the zone's sets that no agent has; a set with data outstanding, or offered, is kept."""
        with m.State("DISCARD"):
            unsent = (entry.state == SetState.OPEN) | (entry.state == SetState.CLOSED)
            with m.If(scan.valid & entry.discarded):
                with m.If(Mux(unsent, ~entry.complete, entry.is_offered)):
                    m.d.sync += sets.kept.eq(1)
                with m.If(unsent & entry.complete):
                    slot_waits = sets.flush_pending.bit_select(scan.entry.slot, 1)
                    m.d.sync += [slot_waits.eq(0), sets.room.eq(1)]
                    sets.change_to(m, SetState.FREE)
            with m.If(scan.valid & scan.last_entry):
                m.next = "DISCARDED"

        with m.State("DISCARDED"):
            m.next = "IDLE"
            with m.If(~sets.kept):
                m.next = "ACCEPT_DISCARD"

        with m.State("ACCEPT_DISCARD"):
            m.d.comb += self.discard.ready.eq(1)
            m.next = "IDLE"

    def _take_events(self, m: Module, sets: _Registers) -> None:
        """Events beside the scan. They come last: their assignments override those of the scan."""
        with m.If(self.unpin):
            m.d.sync += [sets.pinned.eq(0), sets.room.eq(1)]
        with m.If(self.arrived):
            m.d.sync += sets.offer_due.eq(1)
        for offer, is_new in zip(self.sets, sets.offers, strict=True):
            with m.If(is_new):
                m.d.sync += [offer.valid.eq(1), offer.payload.eq(sets.offered_set)]
            with m.If(offer.valid & offer.ready):
                m.d.sync += offer.valid.eq(0)
        accepted = Signal()  # an offer was, a cycle ago
        with m.If(accepted):
            m.d.sync += sets.offer_due.eq(1)
        m.d.sync += accepted.eq(Cat(offer.valid & offer.ready for offer in self.sets).any())
        with m.If(sets.freed):
            m.d.sync += [
                sets.states[sets.freed_slot].eq(SetState.FREE),
                sets.flush_pending.bit_select(sets.freed_slot, 1).eq(0),
                sets.room.eq(1),
            ]
        m.d.comb += self.flushed.eq(sets.flushing & ~sets.flush_pending.any())
        with m.If(self.flushed):
            m.d.sync += sets.flushing.eq(0)
        used_by_dies = (sets.states[slot].as_value()[1] for slot in range(self.config.write_sets))
        m.d.comb += self.busy.eq(Cat(used_by_dies).any())


def _same_page_set(record, page):
    """Whether `page` belongs to the page set of `record`."""
    return (record.zone == page.zone) & (record.page == page.page) & (record.die == page.die)
