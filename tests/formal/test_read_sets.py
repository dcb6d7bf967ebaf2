"""Theorem: a set of reads that has been taken does not grow before all of it is sensed.

A read of the same page that comes while the set is taken, or while it is stepped through, would be sensed
with it, and nobody would have named it. Of `ReadSets` of two planes; reads may come at any clock, of any
page.
Assumes what the docstring says of a user: a set is taken that is complete, or was a clock ago, and not while
another is stepped through; `sense_all` comes with `take`; and what is removed has been marked.

Unbounded, by induction; the lemmas say which reads wait to be sensed.
"""

from dataclasses import replace

from amaranth.hdl import Module, Signal

from flashtrain.rtl.channel.die_agent.read_sets import ReadSets
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec.presets import TINY

CONFIG = replace(TINY, geometry=replace(TINY.geometry, planes=2))
GATHER_CYCLES = 2  # cycles
DEPTH = 5


class TakenSetIsWhole(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        written, sensed, marked, removed = (
            inside[name] for name in ("written", "sensed", "marked", "removed")
        )
        accepted = inside["accepted"]
        was_complete, took = Signal(), Signal()
        taken, whole, end = Signal(), Signal(), Signal.like(written)  # whole: by `sense_all`
        stepping = Signal()
        m.d.comb += stepping.eq(taken & (sensed != end))
        m.d.sync += [was_complete.eq(design.complete), took.eq(design.take)]
        with m.If(design.take):
            m.d.sync += [taken.eq(1), whole.eq(design.sense_all), end.eq(written)]
        with m.Elif(~stepping):
            m.d.sync += taken.eq(0)

        self.keeps_offers(m, design.reads)
        self.assume(m, ~design.take | (~taken & ~took & (design.complete | was_complete)))
        self.assume(m, ~design.sense_all | design.take)
        self.assume(m, ~design.step | (stepping & ~whole))
        self.assume(m, ~design.remove | (removed != marked))

        self.claim(m, ~accepted | ~(design.take | stepping))
        self.lemma(m, ~design.waiting | ~stepping)
        self.lemma(m, (sensed != written) == (design.waiting | stepping))
        self.lemma(m, ~stepping | (end == written))
        self.lemma(m, ~was_complete | (inside["complete_before"] == 1))
        self.lemma(m, inside["sense_all"] == (took & whole))
        self.lemma(m, ~design.take | design.waiting)
        # Positions are in their order, and of no more reads than there is room for.
        held, to_output, to_sense = (
            (position - removed)[: len(removed)] for position in (written, marked, sensed)
        )
        self.lemma(m, (to_output <= to_sense) & (to_sense <= held) & (held <= 2 * CONFIG.geometry.planes))
        for name, condition in (
            ("full", held == 2 * CONFIG.geometry.planes),
            ("unsensed", sensed != written),
        ):
            before = Signal(name=f"{name}_before")
            m.d.sync += before.eq(condition)
            self.lemma(m, inside[name] == before)

        grew, again = Signal(), Signal()
        m.d.sync += grew.eq(grew | (accepted & design.waiting))
        m.d.sync += again.eq(again | (grew & stepping & ~whole))
        self.witness(m, again & accepted)


def test_holds() -> None:
    prove(TakenSetIsWhole(ReadSets(CONFIG, GATHER_CYCLES)), depth=DEPTH)


def test_sets_of_two_are_taken() -> None:
    reach(TakenSetIsWhole(ReadSets(CONFIG, GATHER_CYCLES)), depth=24)


def test_set_that_was_complete_grows() -> None:
    faulty = planted(ReadSets, ("                & ~complete_before\n", ""))
    refute(TakenSetIsWhole(faulty(CONFIG, GATHER_CYCLES)), depth=20)


def test_set_grows_while_it_is_stepped_through() -> None:
    faulty = planted(ReadSets, ("                & ~stepping\n", ""))
    refute(TakenSetIsWhole(faulty(CONFIG, GATHER_CYCLES)), depth=20)
