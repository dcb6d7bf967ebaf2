"""Theorem: the LBAs of a zone are handed out once and in order.

Of `ZoneManager` (2 physical zones of 12 pages, 4 tags), for any logical zone, watched: its write jobs
(appends, writes and updates) follow each other without gap or overlap. The first one after a physical zone
was taken for it begins at offset 0, each later one where the one before ended, none ends past the capacity,
and all name the physical zone that was taken. The result that the tracker is told for an append is the LBA of
the job's first block.

An append takes its blocks, an update the pages of its rows of tiles.

Assumes: the command at the head stays until it is taken, and has 1 to 2 blocks and up to 2 rows, and a
retired zone becomes read-only or offline, as the decoder sees to; the streams' tables do not change; and
there is no recovery, which sets write pointers from outside; nothing leaves the tracker before the manager is
ready. Tags, erased zones, refusals and programs that fail come as they like. Unbounded, by induction.
"""

from dataclasses import replace

from amaranth.hdl import Array, Module, Mux, Signal, Value

from flashtrain.rtl.layouts import Operation
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Status, ZoneState
from flashtrain.spec.presets import TINY

GEOMETRY = replace(TINY.geometry, channels=1, planes=1, blocks=2, pages=6)
CONFIG = replace(TINY, name="proof", geometry=GEOMETRY, commands=4, max_blocks=2, max_open=1, max_active=1)


class OnceAndInOrder(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design, g = self.design, self.design.config.geometry
        commands, write = design.commands, design.write
        command = commands.payload
        watched = self.some(m, g.zone_bits, "watched")
        ours = commands.valid & (command.zone == watched)

        self.keeps_offers(m, commands)
        self.assume(m, ~design.recover)
        self.assume(m, ~design.retired.valid | design.ready)
        self.assume(m, (command.blocks != 0) & (command.blocks <= design.config.max_blocks))
        self.assume(m, command.rows <= design.config.max_blocks)
        retires = (command.operation == Operation.RETIRE) & (command.status == Status.SUCCESS)
        self.assume(m, ~retires | command.action.matches(ZoneState.READ_ONLY, ZoneState.OFFLINE))
        for number, table in enumerate(design.streams):
            self.assume(m, Value.cast(table) == self.some(m, Value.cast(table).shape(), f"table{number}"))

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

        table = inside.part("table")
        stored = table.word(m, "entries", watched)
        pending = inside.ongoing("OPEN", "SEND") & ours & is_append
        self.lemma(m, inside.legal())
        self.lemma(m, stored.pointer == Mux(stored.mapped | pending, end + Mux(pending, taken, 0), 0))
        current = Array(design.generation)[stored.stream]
        self.lemma(m, ~pending | (stored.mapped & (stored.generation == current)))
        self.lemma(m, ~stored.mapped | (stored.placement.zone == physical))
        self.lemma(m, stored.pointer <= g.zone_capacity)
        self.lemma(m, end <= g.zone_capacity)
        place = inside["registers"].place
        self.lemma(m, ~pending | ((place.offset == end) & (place.placement.zone == physical)))
        read = table["stored"]
        looks = inside.ongoing("DECIDE") & ours
        scans = inside.ongoing("RECLAIM") & (inside.part("reclaim").unit.zone == watched)
        loops = inside.ongoing("LOOP_CHANGE") & (inside["registers"].loop_zone == watched)
        retirement = inside.part("retirement").unit
        stores = retirement.store & (retirement.zone == watched)
        self.lemma(m, ~(looks | scans | loops | stores) | (Value.cast(read) == Value.cast(stored)))
        self.lemma(m, ~inside.ongoing("RETIRE") | retirement.store)
        self.lemma(m, ~retirement.store | inside.ongoing("RETIRE", "OPEN", "SEND"))
        self.lemma(m, ~(retirement.pending & retirement.store))
        self.lemma(m, ~(retirement.pending | retirement.store) | design.ready)
        self.lemma(m, ~inside.ongoing("DECIDE", "OPEN", "SEND") | commands.valid)
        self.lemma(m, inside.ongoing("IDLE") | design.ready)
        self.lemma(m, design.ready | ~stored.mapped)
        self.lemma(m, ~design.recovering)


def test_holds() -> None:
    prove(OnceAndInOrder(ZoneManager(CONFIG)), depth=3)


def test_zones_are_written() -> None:
    reach(OnceAndInOrder(ZoneManager(CONFIG)), depth=16)


def test_pointer_stays() -> None:
    """The write pointer is stored as it was: the next append gets the same LBAs."""
    change = ("stored.pointer.eq(zone_after.pointer)", "stored.pointer.eq(entry.pointer)")
    refute(OnceAndInOrder(planted(ZoneManager, change)(CONFIG)), depth=16)


def test_mapping_forgotten() -> None:
    """A zone that is written again takes another physical zone, where its pointer points nowhere."""
    change = ("allocates_zone = kinds.is_append & ~table.entry.mapped", "allocates_zone = kinds.is_append")
    refute(OnceAndInOrder(planted(ZoneManager, change)(CONFIG)), depth=16)
