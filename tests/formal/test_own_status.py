"""Theorem: a page set's buffer is not freed before its own status.

Three links of the chain from the die to the slot:

- `Programmer` (with `tiny`'s pages): a result is given only for a page set whose program has been started and
  that a status read afterwards has judged, FAILC at RDY if another was started since, else FAIL at ARDY; it
  says what that bit said, and names that set's slot. Each set that is taken gets one result, in order; at
  most two are owed. A set is taken from its stream once, after its program was started.
- `ProgramResults` (2 dies): each result taken makes one `ended`, for its slot, with its failure, and none
  comes without.

- `PageSets` (2 slots, 1 die of 1 plane): from being offered to the agent until its `ended`, a set is not
  offered again, and no page gets a place in its slot.

Assumes: streams keep what they offer; the bus ends what it was asked, once; the watch is over once for each
beginning, and the die's bits then mean what `spec.nand` says, for any outcome of any program; and only a set
that an agent has taken ends.

Unbounded, by induction.
"""

from dataclasses import replace

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data

from flashtrain.rtl.channel.die_agent.programmer import Programmer
from flashtrain.rtl.channel.write_buffer.page_sets import PageSets, SetState
from flashtrain.rtl.channel.write_buffer.program_results import ProgramResults
from flashtrain.sim.formal.bus_and_poller import BusAndPoller
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec.presets import TINY

CONFIG = replace(TINY, name="proof", geometry=replace(TINY.geometry, dies=2))
SMALLEST = replace(TINY.geometry, channels=1, dies=1, planes=1, blocks=2, pages=2)
TWO_SLOTS = replace(TINY, name="proof", write_sets=2, commands=4, max_blocks=1, geometry=SMALLEST)
OWED = data.StructLayout({"owed": 1, "slot": 2, "fails": 1, "judged": 1})
"""A set whose program was started: `fails` is what will become of it."""


class JudgedByItsOwn(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        sets, results = design.sets, design.results
        older, newer = Signal(OWED), Signal(OWED)
        answered = results.valid & results.ready
        oldest = Signal(OWED)
        m.d.comb += Value.cast(oldest).eq(Mux(older.owed, Value.cast(older), Value.cast(newer)))

        # The surroundings.
        self.keeps_offers(m, sets)
        promises = BusAndPoller(self, m)
        promises.tell_truth(older, newer)

        with m.If(answered):
            with m.If(older.owed):
                m.d.sync += older.owed.eq(0)
            with m.Else():
                m.d.sync += newer.owed.eq(0)
        taken = Signal(init=1)  # the set at the head was not started yet
        with m.If(design.programmed):
            self.claim(m, sets.valid & taken & ~older.owed)
            m.d.sync += [
                older.eq(newer), newer.owed.eq(1), newer.slot.eq(sets.payload.slot), newer.judged.eq(0),
                newer.fails.eq(self.anything(m, 1, "outcome")), taken.eq(0),
            ]  # fmt: skip
        with m.If(sets.ready):
            self.claim(m, sets.valid & ~taken)
            m.d.sync += taken.eq(1)
        with m.If(results.valid):
            self.claim(m, oldest.owed & oldest.judged)
            self.claim(m, results.payload.slot == oldest.slot)
            self.claim(m, results.payload.failed == oldest.fails)
        three = Signal(2)
        with m.If(answered & (three != 3)):
            m.d.sync += three.eq(three + 1)
        self.witness(m, (three == 2) & results.valid & results.payload.failed & ~older.owed)

        def when(*states: str) -> Value:
            return inside.ongoing(*states, fsm="programmer")

        in_array, slot = inside["in_array"], inside["slot"]
        loads = when("PAGE_ADDRESS", "PAGE_ADDRESS_SENT", "LOAD", "LOAD_SENT")
        works = when("ARRAY_BUSY", "WAIT_LAST", "JUDGE_LAST")
        cached = when("WAIT_READY", "JUDGE_BEFORE")
        self.lemma(m, inside.legal(fsm="programmer"))
        self.lemma(m, ~when("IDLE") | ~(older.owed | newer.owed | in_array))
        self.lemma(m, ~loads | (sets.valid & ~older.owed & (newer.owed == in_array) & taken))
        self.lemma(m, ~loads | ~in_array | (slot == newer.slot))
        self.lemma(m, ~cached | (sets.valid & newer.owed & ~newer.judged & (older.owed == in_array) & ~taken))
        self.lemma(m, ~cached | ((newer.slot == sets.payload.slot) & (~in_array | (slot == older.slot))))
        self.lemma(m, ~works | (newer.owed & in_array & ~older.owed & (slot == newer.slot)))
        self.lemma(m, cached | taken)
        self.lemma(m, ~when("JUDGE_BEFORE") | ~in_array | (older.judged & (inside["failed"] == older.fails)))
        self.lemma(m, ~when("JUDGE_LAST") | (newer.judged & (inside["failed"] == newer.fails)))
        self.lemma(m, promises.asked == when("WAIT_READY", "WAIT_LAST"))
        self.lemma(m, ~promises.asked | (promises.last_asked == when("WAIT_LAST")))
        self.lemma(m, promises.on_bus == when("PAGE_ADDRESS_SENT", "LOAD_SENT"))


class EndedOnce(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        owed, slot, failed = Signal(), Signal.like(design.slot), Signal()
        takes = Cat(result.valid & result.ready for result in design.results)
        self.claim(m, sum(takes) <= 1)
        with m.If(design.ended):
            self.claim(m, owed & (design.slot == slot) & (inside["failed"] == failed))
            m.d.sync += owed.eq(0)
        for result in design.results:
            with m.If(result.valid & result.ready):
                self.claim(m, ~owed)
                m.d.sync += [owed.eq(1), slot.eq(result.payload.slot), failed.eq(result.payload.failed)]
        self.witness(m, design.ended & inside["failed"])

        reporting = inside.ongoing("BEGIN", "REPORT", "LAST", "END", fsm="program_results")
        self.lemma(m, inside.legal(fsm="program_results"))
        self.lemma(m, owed == reporting)
        self.lemma(m, ~owed | ((design.slot == slot) & (inside["failed"] == failed)))


class FreedByItsResult(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        count = design.config.write_sets
        slots = range(count)
        held = Signal(count)  # with an agent
        states = [Value.cast(inside["sets"].states[slot]) for slot in slots]

        def at(bits: Value, slot) -> Value:
            return bits.bit_select(slot, 1)

        with m.If(design.ended):
            self.assume(m, (design.ended_slot < count) & at(held, design.ended_slot))
            m.d.sync += at(held, design.ended_slot).eq(0)
        for offer in design.sets:
            with m.If(offer.valid):
                self.claim(m, (offer.payload.slot < count) & ~at(held, offer.payload.slot))
            with m.If(offer.valid & offer.ready):
                m.d.sync += at(held, offer.payload.slot).eq(1)
        with m.If(design.pages.valid & design.pages.ready):
            self.claim(m, (design.slot < count) & ~at(held, design.slot))
        self.witness(m, design.ended)

        handed_out = Signal(count)
        offered = [Cat(offer.valid & (offer.payload.slot == slot) for offer in design.sets) for slot in slots]
        scan, sets, entry = inside.part("scan"), inside["sets"], inside["entry"]
        visited, found = scan.unit.entry.slot, sets.candidate
        machine = "page_sets"
        order = scan.part("order")
        self.lemma(m, inside.legal(fsm=machine))
        for slot in slots:
            out = states[slot] == SetState.HANDED_OUT.value
            m.d.comb += handed_out[slot].eq(out)
            ending = sets.freed & (sets.freed_slot == slot)
            self.lemma(m, out == (held[slot] | offered[slot].any() | ending))
            times = sum(offered[slot][die] for die in range(len(design.sets)))
            self.lemma(m, times + held[slot] + ending <= 1)
        scans = inside.ongoing("PLACE", "LOOKUP", "OFFER", "FLUSH", "DISCARD", fsm=machine)
        seen = Value.cast(entry.state) == SetState.HANDED_OUT.value
        self.lemma(m, ~(scans & scan.unit.valid) | ~at(handed_out, visited) | seen)
        # The comparisons of the entry, and its change of state a cycle later.
        state = Value.cast(entry.state)
        for flag in (entry.joins, entry.evictable):
            self.lemma(m, ~flag | (state == SetState.OPEN.value))
        self.lemma(m, ~entry.usable | (state == SetState.FREE.value))
        self.lemma(m, ~entry.closed_of_die.any() | (state == SetState.CLOSED.value))
        changes, changed, offers = sets.changes, sets.changed_slot, sets.offers
        given_out = changes & (Value.cast(sets.changed_to) == SetState.HANDED_OUT.value)
        self.lemma(m, ~changes | ((changed < count) & ~at(handed_out, changed)))
        self.lemma(m, ~(changes & scans & scan.unit.valid) | (changed != visited))
        self.lemma(m, offers.any() == given_out)
        self.lemma(m, ~offers.any() | (sets.offered_set.slot == changed))
        for die, offer in enumerate(design.sets):
            self.lemma(m, ~offers[die] | ~offer.valid)
            blocked = sets.blocked[die] | ~inside.ongoing("OFFER", fsm=machine)
            self.lemma(m, ~offers[die] | blocked)
            # An offer shows a cycle late, but the scan has met the set that was offered.
            self.lemma(m, ~offer.valid | sets.offered[die] | blocked | ~scan.unit.valid)
        self.lemma(m, ~given_out | inside.ongoing("OFFER", "IDLE", fsm=machine))
        picks = inside.ongoing("PLACE", "MAKE_PLACE", fsm=machine)
        some = sets.found_free | sets.found_open
        self.lemma(m, ~(picks & some) | ((found < count) & ~at(handed_out, found)))
        accepts = inside.ongoing("ACCEPT", fsm=machine)
        self.lemma(m, ~accepts | ((changed < count) & ~at(handed_out, changed)))
        opens = inside.ongoing("OPEN_SET", "EVICT_OLDEST", fsm=machine)
        self.lemma(m, ~opens | ((visited < count) & ~at(handed_out, visited)))
        standing = [order["slots"][index] for index in slots]
        for index, slot in enumerate(standing):
            self.lemma(m, slot < count)
            for other in standing[:index]:
                self.lemma(m, slot != other)


def test_judged_by_its_own() -> None:
    prove(JudgedByItsOwn(Programmer(CONFIG)), depth=3)


def test_sets_follow_one_another() -> None:
    reach(JudgedByItsOwn(Programmer(CONFIG)), depth=32)


def test_result_at_its_own_start() -> None:
    """A set is answered when the array takes it: with the status of the one before."""
    change = (
        "m.d.comb += self.results.valid.eq(s.in_array & ~hands_over)",
        "m.d.comb += self.results.valid.eq(1)",
    )
    refute(JudgedByItsOwn(planted(Programmer, change)(CONFIG)), depth=16)


def test_wrong_bit() -> None:
    change = ("self.bus_status & DieStatus.FAILC.value", "self.bus_status & DieStatus.FAIL.value")
    refute(JudgedByItsOwn(planted(Programmer, change)(CONFIG)), depth=24)


def test_ended_once() -> None:
    prove(EndedOnce(ProgramResults(CONFIG)), depth=3)


def test_results_end() -> None:
    reach(EndedOnce(ProgramResults(CONFIG)), depth=12)


def test_slot_of_another_die() -> None:
    """The next die's slot is taken over while pages are reported."""
    change = (
        "with m.If(turn == die):\n                        m.d.comb",
        "with m.If(1):\n                        m.d.comb",
    )
    refute(EndedOnce(planted(ProgramResults, change)(CONFIG)), depth=12)


def test_freed_by_its_result() -> None:
    prove(FreedByItsResult(PageSets(TWO_SLOTS)), depth=9)


def test_slots_are_freed() -> None:
    reach(FreedByItsResult(PageSets(TWO_SLOTS)), depth=24)


def test_set_stays_closed() -> None:
    """A set that was handed out is still CLOSED in the table: it is handed out again."""
    change = ("change_to(m, SetState.HANDED_OUT)", "change_to(m, SetState.CLOSED)")
    refute(FreedByItsResult(planted(PageSets, change)(TWO_SLOTS)), depth=26)
