"""Theorem: a page set whose program has failed is reported when it is stored elsewhere, or as failed.

With spare blocks these are the links of the chain that `test_own_status` shows without:

- `Programmer` (with `tiny`'s pages): a result is given only for a set whose own status says that it passed,
  and it names that set's slot. One that failed is handed over, with all that is known of it, and so is the
  one that was started after it; of both, or of the one, the order is told. Nothing is started until they are
  done.
- `Mover` (2 planes, 4 pages): it reports each set that it was given once, in order, by its slot. For a plane
  on which the set has failed it reports "passed" only if a program of that page, from that slot and in that
  page, has passed since, on a spare which the block table was told of then. The same holds for planes on
  which a later set of the zone stood on a block that has moved. Before the table is told of a spare, each
  earlier page of the block has been sensed, programmed there at its number, and that program has passed.

Assumes: as `test_own_status`; the mover takes a clock at least; two sets have two slots; sets of one zone
come in the order of their pages; and FAILC and FAIL of a plane say what has become of its pages in the two
programs.

Unbounded, by induction.
"""

from dataclasses import replace

import pytest
from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data

from flashtrain.rtl.channel.die_agent.mover import Mover
from flashtrain.rtl.channel.die_agent.programmer import ProgrammedSet, Programmer
from flashtrain.sim.formal.bus_and_poller import BusAndPoller
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec.nand import BusOp
from flashtrain.spec.presets import TINY

CONFIG = replace(TINY, name="proof", geometry=replace(TINY.geometry, blocks=12, spare_blocks=4))
ONE_PLANE = replace(CONFIG, max_blocks=1, geometry=replace(CONFIG.geometry, planes=1))
SMALL = replace(
    TINY, name="proof", commands=4, max_blocks=1,
    geometry=replace(TINY.geometry, channels=1, dies=1, planes=2, blocks=4, pages=4, spare_blocks=2),
)  # fmt: skip
SMALLEST = replace(SMALL, geometry=replace(SMALL.geometry, planes=1, pages=2))


def unlike(one: Value, other: Value) -> Value:
    return Value.cast(one) != Value.cast(other)


class HandedOver(Theorem):
    """The programmer's part."""

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        sets, results, failed = design.sets, design.results, design.failed
        owed = data.StructLayout(
            {"owed": 1, "set": ProgrammedSet(design.config), "fails": 1, "judged": 1}
        )  # `fails` is what will become of it
        older, newer = Signal(owed), Signal(owed)

        self.keeps_offers(m, sets)
        begun = Signal()  # the mover needs a clock at least
        m.d.sync += begun.eq(failed.valid)
        self.assume(m, ~failed.ready | begun)
        promises = BusAndPoller(self, m)
        promises.tell_truth(older, newer)

        answered, passed_on = results.valid & results.ready, failed.valid & failed.ready
        with m.If(answered):
            with m.If(older.owed):
                m.d.sync += older.owed.eq(0)
            with m.Else():
                m.d.sync += newer.owed.eq(0)
        with m.If(passed_on):
            m.d.sync += [older.owed.eq(0), newer.owed.eq(0)]
        taken = Signal(init=1)  # the set at the head was not started yet
        with m.If(design.programmed):
            self.claim(m, sets.valid & taken & ~older.owed & ~failed.valid)
            m.d.sync += [
                older.eq(newer), newer.owed.eq(1), newer.judged.eq(0), taken.eq(0),
                *(newer.set[name].eq(sets.payload[name]) for name in newer.set.shape().members),
                newer.fails.eq(self.anything(m, 1, "outcome")),
            ]  # fmt: skip
        with m.If(sets.ready):
            self.claim(m, sets.valid & ~taken)
            m.d.sync += taken.eq(1)
        with m.If(results.valid):
            oldest = Signal(owed)
            m.d.comb += Value.cast(oldest).eq(Mux(older.owed, Value.cast(older), Value.cast(newer)))
            self.claim(m, oldest.owed & oldest.judged & ~oldest.fails & ~results.payload.failed)
            self.claim(m, results.payload.slot == oldest.set.slot)
            self.claim(m, ~failed.valid)
        with m.If(failed.valid):
            first, second = failed.payload.first, failed.payload.second
            self.claim(m, newer.owed & newer.judged & (failed.payload.both == older.owed))
            with m.If(older.owed):
                self.claim(m, older.judged & older.fails)
                self.claim(m, ~unlike(first, older.set) & ~unlike(second, newer.set))
            with m.Else():
                self.claim(m, newer.fails & ~unlike(first, newer.set))
        both_fail = passed_on & older.owed & newer.fails
        self.witness(m, both_fail)
        again = Signal()
        with m.If(passed_on):
            m.d.sync += again.eq(1)
        self.witness(m, again & answered)

        def when(*states: str) -> Value:
            return inside.ongoing(*states, fsm="programmer")

        in_array, held, slot = inside["in_array"], inside["held"], inside["slot"]
        current, before = inside["current"], inside["before"]
        loads = when("PAGE_ADDRESS", "PAGE_ADDRESS_SENT", "LOAD", "LOAD_SENT")
        cached = when("WAIT_READY", "JUDGE_BEFORE")
        works = when("ARRAY_BUSY", "WAIT_LAST", "JUDGE_LAST")
        hands_over = when("HAND_OVER", "MOVER_BUSY")
        self.lemma(m, inside.legal(fsm="programmer"))
        self.lemma(m, ~when("IDLE") | ~(older.owed | newer.owed | in_array | held))
        self.lemma(m, ~loads | (sets.valid & ~older.owed & ~held & (newer.owed == in_array) & taken))
        self.lemma(m, ~(loads & in_array) | ((slot == newer.set.slot) & ~unlike(current, newer.set)))
        self.lemma(m, ~cached | (sets.valid & newer.owed & ~newer.judged & (older.owed == in_array) & ~taken))
        self.lemma(m, ~cached | ~held)
        self.lemma(m, ~(cached & in_array) | ((slot == older.set.slot) & ~unlike(current, older.set)))
        for name in newer.set.shape().members:
            self.lemma(m, ~cached | (newer.set[name] == sets.payload[name]))
        self.lemma(m, ~works | (newer.owed & in_array & (older.owed == held) & (slot == newer.set.slot)))
        self.lemma(m, ~(works | hands_over) | ~unlike(current, newer.set))
        self.lemma(m, ~held | (older.judged & older.fails & ~unlike(before, older.set)))
        self.lemma(m, cached | taken)
        judges = when("JUDGE_BEFORE") & in_array
        self.lemma(m, ~judges | (older.judged & (inside["failed"] == older.fails)))
        self.lemma(m, ~when("JUDGE_LAST") | (newer.judged & (inside["failed"] == newer.fails)))
        self.lemma(m, ~hands_over | (newer.owed & newer.judged & ~in_array & (held == older.owed)))
        self.lemma(m, ~hands_over | held | newer.fails)
        self.lemma(m, ~begun | ~when("HAND_OVER"))
        self.lemma(m, promises.asked == when("WAIT_READY", "WAIT_LAST"))
        self.lemma(m, ~promises.asked | (promises.last_asked == when("WAIT_LAST")))
        self.lemma(m, promises.on_bus == when("PAGE_ADDRESS_SENT", "LOAD_SENT"))


class StoredElsewhere(Theorem):
    """The mover's part, for a plane that is any."""

    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        g = design.config.geometry
        failed, results, change = design.failed, design.results, design.change
        bus, poller = design.bus, design.poller
        first, second, both = failed.payload.first, failed.payload.second, failed.payload.both
        plane = self.some(m, g.plane_bits, "plane")

        # The surroundings.
        self.keeps_offers(m, failed)
        with m.If(failed.valid):
            self.assume(m, (first.slot != second.slot) & (first.zone < g.zones) & (second.zone < g.zones))
            self.assume(m, (first.zone != second.zone) | (first.page < second.page))
        promises = BusAndPoller(self, m)
        sent = Signal.like(bus.payload)  # what the bus was asked last
        with m.If(bus.valid & bus.ready):
            m.d.sync += sent.eq(bus.payload)
        fail, failc = promises.fail, promises.failc
        # What has become of the plane's pages in the two programs; of a lone set FAIL tells.
        fails = Signal(2)
        with m.If(~failed.valid | failed.ready):
            m.d.sync += fails.eq(self.anything(m, 2, "outcome"))
        told = Signal()
        m.d.sync += told.eq(design.bus_done & (sent.op == BusOp.STATUS_PLANE) & (sent.plane == plane))
        with m.If(told & both):
            self.assume(m, (failc == fails[0]) & (fail == fails[1]))
        with m.If(told & ~both):
            self.assume(m, fail == fails[0])
        spare_taken = design.take.valid & design.take.ready & ~design.taken.none
        self.assume(m, ~spare_taken | (design.taken.spare < g.spare_blocks))

        # What has happened on the plane.
        passed = poller.ready & ~fail
        here = sent.plane == plane

        def of_set(one) -> Value:
            return (sent.slot == one.slot) & (sent.page == one.page) & here

        programs = (sent.op == BusOp.PROGRAM_LAST) & here
        stands = Signal()  # the page that was programmed last is good
        copied, senses = Signal(range(g.pages + 1)), Signal(g.page_bits)
        sensed_zone, spare_zone = Signal(g.block_bits), Signal(g.block_bits)
        with m.If(bus.valid & bus.ready):
            m.d.sync += stands.eq(0)
        with m.If(passed & programs):
            m.d.sync += stands.eq(1)
        with m.If(passed & here & (sent.op == BusOp.ERASE_LAST)):
            m.d.sync += [copied.eq(0), spare_zone.eq(sent.zone)]
        with m.If(poller.ready & here & (sent.op == BusOp.COPYBACK_READ)):  # which cannot fail
            m.d.sync += [senses.eq(sent.page), sensed_zone.eq(sent.zone)]
        copy = passed & here & (sent.op == BusOp.COPYBACK_PROGRAM) & (senses == sent.page)
        with m.If(copy & (sent.zone == spare_zone) & (sent.page == copied)):
            m.d.sync += copied.eq(copied + 1)
        answered = Signal()  # the first of both
        stored = [Signal(name=f"stored_{number}") for number in range(2)]
        same_zone = first.zone == second.zone
        told_of = change.valid & change.ready & (change.payload.plane == plane)
        for number, one in enumerate((first, second)):
            with m.If(told_of & of_set(one)):
                m.d.sync += stored[number].eq(1)
        with m.If(passed & programs & of_set(second) & (sent.zone == second.zone) & stored[0] & same_zone):
            m.d.sync += stored[1].eq(1)
        with m.If(results.valid & results.ready):
            m.d.sync += answered.eq(1)
        with m.If(failed.valid & failed.ready):
            m.d.sync += [answered.eq(0), stored[0].eq(0), stored[1].eq(0)]

        def needs(number: int) -> Value:
            """The set's page on the plane must be stored again."""
            moved_away = fails[0] & in_set[0] & stored[0] & same_zone if number else 0
            return in_set[number] & (fails[number] | moved_away)

        in_set = [(one.first <= plane) & (plane <= one.last) for one in (first, second)]
        with m.If(results.valid):
            self.claim(m, failed.valid & (both | ~answered))
            self.claim(m, results.payload.slot == Mux(answered, second.slot, first.slot))
            for number in range(2):
                with m.If(answered == number):
                    self.claim(m, ~needs(number) | results.payload.failed | stored[number])
        with m.If(failed.ready):
            self.claim(m, failed.valid & results.valid & results.ready & (answered | ~both))
        moves = Signal(ProgrammedSet(design.config))  # the set that the last program was of
        m.d.comb += moves.eq(Mux(sent.slot == first.slot, first, second))
        with m.If(change.valid & (change.payload.plane == plane)):
            self.claim(m, stands & of_set(moves) & (sent.zone == g.zones + change.payload.spare))
            self.claim(m, (change.payload.zone == moves.zone) & (copied == moves.page))
        with m.If(bus.valid & (bus.payload.op == BusOp.COPYBACK_PROGRAM) & (bus.payload.plane == plane)):
            self.claim(m, sensed_zone == inside["page_set"].zone)
        self.witness(m, results.valid & stored[0])
        self.witness(m, copied == 1)

        def when(*states: str) -> Value:
            sent_too = [f"{state}_SENT" for state in states if f"{state}_SENT" in OPERATIONS]
            return inside.ongoing(*states, *sent_too, fsm="mover")

        at, is_second, one = inside["plane"], inside["second"], inside["page_set"]
        failed_first, failed_second, moved = (
            inside[name].bit_select(plane, 1) for name in ("failed_first", "failed_second", "moved")
        )
        moving, spare, page, lost = (inside[name] for name in ("moving", "spare", "page", "lost"))
        asks, nothing, ends = when("PLANE_STATUS", "JUDGE_PLANE"), when("IDLE"), when("RESULT")
        works = ~(asks | nothing | ends)
        mine = at == plane
        to_spare = g.zones + spare

        self.lemma(m, inside.legal(fsm="mover"))
        self.lemma(m, nothing | failed.valid)
        self.lemma(m, ~(nothing | asks | works) | ~answered)
        self.lemma(m, ~(nothing | asks) | ~(stored[0] | stored[1]))
        self.lemma(m, ~asks | ((lost == 0) & ~moved & ~is_second))
        self.lemma(m, ~is_second | nothing | both)
        self.lemma(m, ~ends | (answered == is_second))
        known = works | ends | (asks & (at > plane))
        self.lemma(m, ~known | (failed_first == fails[0]))
        self.lemma(m, ~(known & both) | (failed_second == fails[1]))
        self.lemma(m, told == (inside.ongoing("JUDGE_PLANE", fsm="mover") & mine))
        self.lemma(m, promises.on_bus == inside.ongoing(*OPERATIONS, fsm="mover"))
        waits = inside.ongoing("ERASING", "SENSING", "COPYING", "PROGRAMMING", fsm="mover")
        self.lemma(m, promises.asked == waits)
        first_done = ends | (works & (is_second | (at > plane)))
        second_done = ends | (works & is_second & (at > plane))
        self.lemma(m, ~first_done | ~needs(0) | lost[0] | stored[0])
        self.lemma(m, ~(works & ~is_second & (at <= plane)) | ~stored[0])
        self.lemma(m, ~(second_done & both) | ~needs(1) | lost[1] | stored[1])
        self.lemma(m, ~(works & (~is_second | (at <= plane))) | (~stored[1] & (moved == stored[0])))
        self.lemma(m, ~stored[0] | (in_set[0] & fails[0]))

        # What was sent last, in the state that it led to.
        for states, op, zone, of_page in (
            (("ERASE_SENT", "ERASING"), BusOp.ERASE_LAST, to_spare, None),
            (("COPY_FROM_SENT", "SENSING"), BusOp.COPYBACK_READ, one.zone, page),
            (("COPY_TO_SENT", "COPYING"), BusOp.COPYBACK_PROGRAM, to_spare, page),
            (("PAGE_ADDRESS_SENT",), BusOp.PROGRAM_PAGE, Mux(moving, to_spare, one.zone), one.page),
            (("LOAD_SENT", "PROGRAMMING", "CHANGE_TABLE"), BusOp.PROGRAM_LAST,
             Mux(moving, to_spare, one.zone), one.page),
        ):  # fmt: skip
            there = inside.ongoing(*states, fsm="mover")
            self.lemma(m, ~there | ((sent.op == op) & (sent.plane == at) & (sent.zone == zone)))
            if of_page is not None:
                self.lemma(m, ~there | (sent.page == of_page))
            self.lemma(m, ~there | (sent.slot == one.slot))
        self.lemma(m, ~inside.ongoing("PLANE_STATUS_SENT", fsm="mover")
                   | ((sent.op == BusOp.STATUS_PLANE) & (sent.plane == at)))  # fmt: skip

        erases = when("ERASE", "ERASING")
        copies = when("NEXT_PAGE", "COPY_FROM", "SENSING", "COPY_TO", "COPYING")
        programs_page = when("PAGE_ADDRESS", "LOAD", "PROGRAMMING")
        changes = when("CHANGE_TABLE")
        asks_spare = when("TAKE_SPARE")
        again = is_second & same_zone & stored[0]
        worked_on = erases | copies | programs_page | changes | asks_spare
        self.lemma(m, ~(works & worked_on & mine) | Mux(is_second, needs(1), needs(0)))
        self.lemma(m, ~(erases | copies | changes) | moving)
        self.lemma(m, ~(erases | copies | programs_page | changes) | ~moving | (spare < g.spare_blocks))
        self.lemma(m, ~(programs_page & mine & ~moving) | again)
        self.lemma(m, ~erases | (page == 0))
        self.lemma(m, ~copies | (page <= one.page))
        self.lemma(m, ~when("COPY_FROM", "SENSING", "COPY_TO", "COPYING") | (page < one.page))
        on_spare = copied == Mux(copies, page, one.page)
        self.lemma(m, ~((copies | programs_page | changes) & moving & mine)
                   | (on_spare & (spare_zone == to_spare)))  # fmt: skip
        self.lemma(m, ~(when("COPY_TO", "COPYING") & mine)
                   | ((senses == page) & (sensed_zone == one.zone)))  # fmt: skip
        self.lemma(m, ~(changes & mine) | stands)


OPERATIONS = [
    f"{state}_SENT" for state in ("PLANE_STATUS", "ERASE", "COPY_FROM", "COPY_TO", "PAGE_ADDRESS", "LOAD")
]
"""States in which the bus is at work for the mover."""


def test_handed_over() -> None:
    prove(HandedOver(Programmer(CONFIG)), depth=3)


def test_sets_are_handed_over() -> None:
    reach(HandedOver(Programmer(ONE_PLANE)), depth=24)


def test_failure_is_forgotten() -> None:
    """The set behind a failed one passes, and only its own status counts."""
    change = ("hands_over = (s.held | s.failed) & self._spares", "hands_over = s.failed & self._spares")
    refute(HandedOver(planted(Programmer, change)(ONE_PLANE)), depth=18)


def test_stored_elsewhere() -> None:
    prove(StoredElsewhere(Mover(SMALL)), depth=3)


def test_sets_are_stored() -> None:
    reach(StoredElsewhere(Mover(SMALLEST)), depth=20)


def test_table_changes_at_once() -> None:
    """A program on the spare that has failed counts as one that has passed."""
    change = (
        """            with m.If(self._status_failed()):
                self._next_spare(m)
            with m.Elif(s.moving):""",
        """            with m.If(s.moving):""",
    )
    refute(StoredElsewhere(planted(Mover, change)(SMALLEST)), depth=18)


@pytest.mark.long
def test_later_set_stays_behind() -> None:
    """Pages of the second set are left on the block that the first has moved from."""
    change = ("s.moved.bit_select(plane, 1)", "0")
    refute(StoredElsewhere(planted(Mover, change)(SMALLEST)), depth=26)
