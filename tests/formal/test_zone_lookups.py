"""Theorem: no command sees an old zone.

Of `ZoneManager` (2 zones of 12 pages, 4 tags; with and without a codec), for any logical zone, watched. What
the table holds of it, seen through the streams' generations, is

- what DECIDE has found, of the command's zone and of an update's source, unless the command goes back to
  IDLE: the entry, whether it is stale, and whether its physical zone is still to be released. The state
  machine has checked the same;
- what every write changes: of DECIDE, of each zone of a loop, of room that is made, and of what is retired,
  settled or reclaimed;
- what is retired, settled or reclaimed without a write;
- what a commit compares;
- what a report reads.

Assumes: the command at the head stays until it is taken, and the streams' tables name zones of the device.
All else comes as it likes, recovery included. Unbounded, by induction.
"""

from dataclasses import replace

import pytest
from amaranth.hdl import Array, Cat, Const, Module, Signal, Value

from flashtrain.rtl.layouts import Operation
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.state_machine import ZoneCondition
from flashtrain.rtl.zones.table import Purpose, ZoneTable
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Status
from flashtrain.spec.presets import TINY
from tests.formal.zone_lookups import VISITS, Lookups, is_one_of

GEOMETRY = replace(TINY.geometry, channels=1, planes=1, blocks=2, pages=6)
CONFIG = replace(TINY, name="proof", geometry=GEOMETRY, commands=4, max_blocks=2, max_open=1, max_active=1)


class SeesNoOldZone(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design = self.design
        watched = self.some(m, design.config.geometry.zone_bits, "watched")
        lookups = Lookups(m, design, inside, watched)
        lookups.assume(self, m)
        lookups.lemmas(self, m)
        checked, is_sound = lookups.checked, lookups.is_sound(lookups.checked)
        of_watched = checked.zone == watched

        table = inside.part("table").unit
        self.claim(m, ~table.write | (table.write_zone == checked.zone))
        self.claim(m, ~table.write | ~of_watched | is_sound)
        self.claim(m, ~is_one_of(checked.purpose, *VISITS) | ~of_watched | is_sound)
        compares = inside.ongoing("COMPARE") & is_one_of(checked.purpose, Purpose.SOURCE, Purpose.EACH)
        same = Value.cast(checked.entry) == Value.cast(lookups.seen)
        self.claim(m, ~compares | ~of_watched | same)

        same_source = self._sources(m, inside, lookups, watched)
        of_machine = Signal(ZoneCondition(design.config))
        m.d.sync += of_machine.eq(inside.part("state_machine").unit.zone)
        self.lemma(m, (checked.purpose == Purpose.NONE) | _agree(of_machine, checked.entry))
        decided, was_right = Signal(), Signal()
        m.d.sync += [
            decided.eq(inside.ongoing("DECIDE")),
            was_right.eq((~of_watched | is_sound & _agree(of_machine, lookups.seen)) & same_source),
        ]
        self.claim(m, ~decided | inside.ongoing("IDLE") | was_right)
        self._report(m, inside, lookups, watched)

        again = Signal()
        with m.If(inside.ongoing("DECIDE")):
            m.d.sync += again.eq(lookups.stages[3].overtaken & checked.reclaim)
        with m.If(design.commands.ready):
            m.d.sync += again.eq(0)
        self.witness(m, again & inside.ongoing("LOOKUP"))

    def _sources(self, m: Module, inside: Inside, lookups: Lookups, watched: Value) -> Value:
        """Whether DECIDE has the entry of an update's source, if that is the watched zone.

        A source's zone may be reclaimed while its lookup is under way, which leaves what lookups show.
        """
        seen, checked, place = lookups.seen, lookups.checked, inside["registers"].place
        command, machine = self.design.commands.payload, inside.part("state_machine").unit
        of_machine = Signal(ZoneCondition(self.design.config))
        with m.If(machine.is_source):
            m.d.sync += of_machine.eq(machine.zone)

        def holds(entry) -> Value:
            placed = Value.cast(place.source) == Value.cast(entry.placement)
            return placed & _agree(of_machine, entry)

        raw = [lookups.through_generations(m, entry)[1] for entry in lookups.raw]
        shown = [*raw, lookups.stages[2].entry, checked.entry]
        of_update, of_commit = inside.ongoing("LOOKUP", "WAIT"), inside.ongoing("COMPARE")
        for stage, entry in zip(lookups.stages, shown, strict=True):
            is_source = stage.purpose == Purpose.SOURCE
            watches = is_source & (stage.zone == watched)
            self.lemma(m, ~watches | (Value.cast(entry) == Value.cast(seen)))
            self.lemma(m, ~is_source | of_commit | of_update & (stage.zone == command.first_zone))
        self.lemma(m, (checked.purpose != Purpose.SOURCE) | holds(checked.entry))
        is_ours = (command.operation == Operation.UPDATE) & (command.first_zone == watched)
        right = ~is_ours | holds(seen)
        self.lemma(m, ~inside.ongoing("DECIDE") | right)
        return right

    def _report(self, m: Module, inside: Inside, lookups: Lookups, watched: Value) -> None:
        """A report's lookups have no purpose: nothing is written beside them."""
        reports = inside.ongoing("WAIT_FOR_REPORT")
        asked = Signal(3)  # for how many cycles
        m.d.sync += asked.eq(0)
        with m.If(reports):
            m.d.sync += asked.eq(Cat(Const(1, 1), asked))
        for cycles, (stage, entry) in enumerate(zip(lookups.stages[:2], lookups.raw, strict=True)):
            asks = asked[cycles] & (stage.zone == watched)
            self.lemma(m, ~asks | (Value.cast(entry) == Value.cast(lookups.stored)))
        self.lemma(m, ~asked[1] | lookups.is_current)
        asks = asked[2] & (lookups.stages[2].zone == watched)
        self.claim(m, ~asks | (Value.cast(self.design.report_entry) == Value.cast(lookups.seen)))


class ReclaimedBesideUpdate(SeesNoOldZone):
    """The theorem of one run: an append, a reset of its stream, then updates of its zone."""

    def state(self, m: Module, inside: Inside) -> None:
        super().state(m, inside)
        design, command = self.design, self.design.commands.payload
        taken = Signal(range(3))
        m.d.sync += taken.eq(taken + (design.commands.ready & (taken != 2)))
        run = Array(Value.cast(one) for one in (Operation.APPEND, Operation.RESET, Operation.UPDATE))
        self.assume(m, design.commands.valid & (Value.cast(command.operation) == run[taken]))
        self.assume(m, (command.status == Status.SUCCESS) & (command.blocks == 1) & (command.rows == 1))
        self.assume(m, Cat(command.stream, command.source, command.zone, command.first_zone) == 0)
        self.assume(m, design.next_zone.valid & design.tags.valid & ~design.recover)
        self.assume(m, ~design.retired.payload.program_failed & (design.retired.payload.stream == 0))
        for out in (design.open, design.write, design.answers, design.release):
            self.assume(m, out.ready)


def _agree(condition, entry) -> Value:
    """Whether the state machine was given that entry."""
    return (condition.state == entry.state) & (condition.pointer == entry.pointer)


def test_holds() -> None:
    prove(SeesNoOldZone(ZoneManager(CONFIG)), depth=1)


def test_holds_with_codec() -> None:
    prove(SeesNoOldZone(ZoneManager(replace(CONFIG, codec=True))), depth=1)


def test_zones_are_looked_up_again() -> None:
    reach(ReclaimedBesideUpdate(ZoneManager(CONFIG)), depth=28)


@pytest.mark.long
def test_lookups_not_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write marks no lookup: the physical zone of a reclaimed zone is released once more."""
    monkeypatch.setattr(ZoneTable, "is_written", lambda table, zone: Const(0))
    refute(ReclaimedBesideUpdate(ZoneManager(CONFIG)), depth=28)


@pytest.mark.long
def test_mark_ignored() -> None:
    """DECIDE acts on a zone that was written since it was looked up."""
    change = ("overtaken | registers.releases", "registers.releases")
    refute(ReclaimedBesideUpdate(planted(ZoneManager, change)(CONFIG)), depth=28)


def test_retirement_beside_command() -> None:
    """A command does not wait for a zone that is being retired, and which may be the source of an update."""
    change = ("& ~self._restore.busy & ~held", "& ~self._restore.busy")
    refute(SeesNoOldZone(planted(ZoneManager, change)(CONFIG)), depth=14)
