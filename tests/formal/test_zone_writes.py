"""Theorem: the LBAs of a zone are handed out once and in order.

Of `ZoneManager` (2 physical zones of 12 pages, 4 tags), for any logical zone, watched: its write jobs
(appends, writes and updates) follow each other without gap or overlap. The first one after a physical zone
was taken for it begins at offset 0, each later one where the one before ended, none ends past the capacity,
and all name the physical zone that was taken. The result that the tracker is told for an append is the LBA of
the job's first block.

An append takes its blocks, an update the pages of its rows of tiles.

Assumes: the command at the head stays until it is taken, and has 1 to 2 blocks and up to 2 rows, and its
action exists: a retired zone becomes read-only or offline. The decoder sees to that. The streams' tables name
zones of the device; there is no recovery, which sets write pointers from outside; and nothing leaves the
tracker before the manager is ready. Tags, erased zones, refusals and programs that fail come as they like.
Unbounded, by induction.
"""

from dataclasses import replace

import pytest
from amaranth.hdl import Array, Module, Mux, Signal, Value

from flashtrain.rtl.layouts import Operation
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.table import Purpose
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Status, ZoneAction, ZoneState
from flashtrain.spec.presets import TINY
from tests.formal.zone_lookups import Lookups

GEOMETRY = replace(TINY.geometry, channels=1, planes=1, blocks=2, pages=6)
CONFIG = replace(TINY, name="proof", geometry=GEOMETRY, commands=4, max_blocks=2, max_open=1, max_active=1)


class OnceAndInOrder(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design, g = self.design, self.design.config.geometry
        commands, write = design.commands, design.write
        command = commands.payload
        watched = self.some(m, g.zone_bits, "watched")
        ours = commands.valid & (command.zone == watched)

        self.assume(m, ~design.recover)
        self.assume(m, ~design.retired.valid | design.ready)
        self.assume(m, (command.blocks != 0) & (command.blocks <= design.config.max_blocks))
        self.assume(m, command.rows <= design.config.max_blocks)
        succeeds = command.status == Status.SUCCESS
        retires, sends = (command.operation == one for one in (Operation.RETIRE, Operation.SEND))
        retired_to = command.action.matches(ZoneState.READ_ONLY, ZoneState.OFFLINE)
        self.assume(m, ~(retires & succeeds) | retired_to)
        self.assume(m, ~(sends & succeeds) | command.action.matches(*ZoneAction))
        lookups = Lookups(m, design, inside, watched)
        lookups.assume(self, m)

        # What was handed out: up to here, of this physical zone.
        end, physical = Signal(range(g.zone_capacity + 1)), Signal(g.zone_bits)
        is_update = command.operation == Operation.UPDATE
        is_append = (
            (command.operation == Operation.APPEND) | (command.operation == Operation.WRITE) | is_update
        )
        taken = Mux(is_update, command.rows << g.channel_bits + g.plane_bits, command.blocks)
        with m.If(design.next_zone.valid & design.next_zone.ready & ours):
            m.d.sync += [end.eq(0), physical.eq(design.next_zone.payload.zone)]
        with m.If(write.valid & ours & is_append):
            self.claim(m, write.payload.offset == end)
            self.claim(m, end + taken <= g.zone_capacity)
            self.claim(m, write.payload.blocks == command.blocks)
            self.claim(m, write.payload.zone == physical)
            with m.If(write.ready):
                m.d.sync += end.eq(end + taken)
        with m.If(design.open.valid & ours):
            has_result = is_update | (command.operation == Operation.APPEND)
            self.claim(
                m, ~has_result | (design.open.payload.result == (command.index << g.zone_size_bits) | end)
            )
        self.witness(m, write.valid & write.ready & ours & is_append & (end == 2))

        lookups.lemmas(self, m)
        stored, checked = lookups.stored, lookups.checked
        pending = inside.ongoing("OPEN", "SEND") & ours & is_append
        self.lemma(m, stored.pointer == Mux(stored.mapped | pending, end + Mux(pending, taken, 0), 0))
        current = Array(design.generation)[stored.stream]
        self.lemma(m, ~pending | (stored.mapped & (stored.generation == current)))
        self.lemma(m, ~stored.mapped | (stored.placement.zone == physical))
        self.lemma(m, stored.pointer <= g.zone_capacity)
        self.lemma(m, end <= g.zone_capacity)
        place = inside["registers"].place
        self.lemma(m, ~pending | ((place.offset == end) & (place.placement.zone == physical)))
        self._check(m, inside, checked, is_append, taken)
        retirement = inside.part("retirement").unit
        self.lemma(m, ~retirement.busy | design.ready)
        self.lemma(m, design.ready | ~stored.mapped)
        self.lemma(m, ~design.recovering)

    def _check(self, m: Module, inside: Inside, checked, is_append, taken) -> None:
        """What the state machine has prepared, and made of the entry that was checked."""
        machine, g = inside.part("state_machine"), self.design.config.geometry
        command, prepared, unit = self.design.commands.payload, machine["prepared"], machine.unit
        looks = inside.ongoing("LOOKUP", "WAIT", "DECIDE")
        recovers = (command.operation == Operation.INSPECT) | (command.operation == Operation.RESTORE)
        is_same = Value.cast(prepared.operation) == Value.cast(command.operation)
        is_same &= prepared.action == command.action[: len(prepared.action)]
        is_same &= prepared.select_all == command.select_all
        self.lemma(m, ~(looks | inside.ongoing("LOOP")) | is_same)
        self.lemma(m, ~looks | ~is_append | (prepared.written == taken))
        self.lemma(m, ~looks | ~is_append | (prepared.most_before == g.zone_capacity - taken))
        self.lemma(m, ~looks | ~recovers | prepared.fails)
        self.lemma(m, ~looks | (command.status == Status.SUCCESS) | prepared.fails)
        decides = inside.ongoing("DECIDE")
        self.lemma(m, ~decides | ~prepared.fails | unit.fails)
        after, before = unit.zone_after, checked.entry
        appends, succeeds = decides & is_append, ~unit.fails
        self.lemma(m, ~appends | (after.pointer == (before.pointer + taken)[: len(after.pointer)]))
        self.lemma(m, ~(appends & succeeds) | (before.pointer + taken <= g.zone_capacity))
        self.lemma(m, ~(appends & succeeds) | (after.state != ZoneState.EMPTY))
        sends = decides & (command.operation == Operation.SEND)
        resets = sends & (prepared.action == ZoneAction.RESET)
        self.lemma(m, ~resets | (after.state == ZoneState.EMPTY) & (after.pointer == 0))
        self.lemma(m, ~sends | resets | (after.pointer == before.pointer))
        retires = decides & (command.operation == Operation.RETIRE)
        self.lemma(m, ~retires | (after.pointer == before.pointer))
        manages = sends & ~resets & ~command.select_all
        self.lemma(m, ~(manages | retires) | unit.fails | (after.state != ZoneState.EMPTY))
        self.lemma(m, ~inside.ongoing("LOOP") | (command.status == Status.SUCCESS))
        each = inside.ongoing("LOOP") & (checked.purpose == Purpose.EACH)
        self.lemma(m, ~each | (after.pointer == before.pointer))
        self.lemma(m, ~each | ~unit.selected | (after.state != ZoneState.EMPTY))


def test_holds() -> None:
    prove(OnceAndInOrder(ZoneManager(CONFIG)), depth=2)


def test_zones_are_written() -> None:
    reach(OnceAndInOrder(ZoneManager(CONFIG)), depth=18)


@pytest.mark.long
def test_pointer_stays() -> None:
    """The write pointer is stored as it was: the next append gets the same LBAs."""
    change = ("stored.pointer.eq(zone_after.pointer)", "stored.pointer.eq(entry.pointer)")
    refute(OnceAndInOrder(planted(ZoneManager, change)(CONFIG)), depth=16)


def test_mapping_forgotten() -> None:
    """A zone that is written again takes another physical zone, where its pointer points nowhere."""
    change = ("kinds.is_append & ~registers.checked.entry.mapped", "kinds.is_append")
    refute(OnceAndInOrder(planted(ZoneManager, change)(CONFIG)), depth=16)
