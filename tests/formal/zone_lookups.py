"""Invariants of the zone manager's lookups, for theorems about it.

A lookup that no write has overtaken holds what the table holds: its memory, or the register before it. A
command's lookups are under way in
LOOKUP and WAIT, and its last one is the one that DECIDE sees. A visit, which no command has asked for, is
ahead of the command's lookups.
"""

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value

from flashtrain.rtl.layouts import Operation
from flashtrain.rtl.zones.jobs import kinds_of
from flashtrain.rtl.zones.manager import ZoneManager
from flashtrain.rtl.zones.table import Purpose, ZoneEntry, is_retired
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import ZoneState

VISITS = (Purpose.RETIRE, Purpose.SETTLE, Purpose.RECLAIM)
OF_COMMANDS = (Purpose.COMMAND, Purpose.SOURCE, Purpose.EACH)


def is_one_of(purpose: Value, *purposes: Purpose) -> Value:
    """Whether it is one of these purposes."""
    return Cat(purpose == one for one in purposes).any()


@dataclass(frozen=True)
class Stage:
    """A lookup on its way."""

    purpose: Any
    zone: Any
    overtaken: Any


class Lookups:
    """The lookups of a design on their way, with the entry of zone `watched` as the table has it."""

    def __init__(self, m: Module, design: ZoneManager, inside: Inside, watched: Value):
        table = inside.part("table")
        self.stored: Any = Signal(ZoneEntry(design.config))
        self.writing = table.unit.writing
        self.written_zone = table["written_zone"]
        m.d.comb += self.stored.eq(table.word(m, "entries", watched))
        with m.If(self.writing & (self.written_zone == watched)):
            m.d.comb += self.stored.eq(table["written_entry"])
        self.checked = inside["registers"].checked
        self._design, self._inside, self._watched = design, inside, watched
        first, second, found = table["first"], table["second"], table.unit.found
        self.wrote, self.wrote_zone = table["wrote"], table["wrote_zone"]
        overtaken = self.checked.overtaken | self.writing & inside["registers"].checked_same
        # A zone that was at the memory's port is compared with both writes before it.
        overtakes_first = self.writing & (self.written_zone == first.zone)
        overtakes_first |= self.wrote & (self.wrote_zone == first.zone)
        self.stages = (  # the youngest first
            Stage(first.purpose, first.zone, overtakes_first),
            Stage(second.purpose, second.zone, table["second_overtaken"]),
            found,
            Stage(self.checked.purpose, self.checked.zone, overtaken),
        )
        self.raw = (table["read"].data, table["stored"])  # entries of the first two, as they were stored
        self.is_current = table["current"] == Array(design.generation)[self.raw[1].stream]
        self.is_stale, self.seen = self.through_generations(m, self.stored)

    def through_generations(self, m: Module, entry: Any) -> tuple[Value, Any]:
        """Whether an entry is stale, and the entry as lookups show it."""
        seen: Any = Signal(ZoneEntry(self._design.config))
        current = Array(self._design.generation)[entry.stream]
        is_stale = (entry.generation != current) & ~is_retired(entry.state)
        m.d.comb += seen.eq(entry)
        with m.If(is_stale):
            m.d.comb += [seen.state.eq(ZoneState.EMPTY), seen.mapped.eq(0), seen.pointer.eq(0)]
        return is_stale, seen

    def is_sound(self, lookup: Any) -> Value:
        """What was found of the watched zone is what the memory holds now, seen through the generations."""
        same = Value.cast(lookup.entry) == Value.cast(self.seen)
        flags = (lookup.stale == self.is_stale) & (lookup.reclaim == (self.is_stale & self.stored.mapped))
        return same & flags

    def assume(self, theorem: Theorem, m: Module) -> None:
        """Commands stay until they are taken, and the streams' tables name zones of the device.

        A command looks its own zone up first, unless it is an update.
        """
        theorem.keeps_offers(m, self._design.commands)
        command = self._design.commands.payload
        theorem.assume(m, (command.operation == Operation.UPDATE) | (command.first_zone == command.zone))
        for table in self._design.streams:
            theorem.assume(m, table.first + table.zones <= self._design.config.geometry.zones)

    def lemmas(self, theorem: Theorem, m: Module) -> None:
        inside, registers, command = self._inside, self._inside["registers"], self._design.commands.payload
        stages = self.stages
        loops = inside.ongoing("LOOP", "ROOM", "COMPARE")
        begins, waits, decides = (inside.ongoing(state) for state in ("LOOKUP", "WAIT", "DECIDE"))
        watches = [
            (stage.purpose != Purpose.NONE) & (stage.zone == self._watched) & ~stage.overtaken
            for stage in stages
        ]
        for watch, raw in zip(watches[:2], self.raw, strict=True):
            theorem.lemma(m, ~watch | (Value.cast(raw) == Value.cast(self.stored)))
        theorem.lemma(m, (stages[1].purpose == Purpose.NONE) | self.is_current)
        self._generations(theorem, m)
        for watch, lookup in zip(watches[2:], (stages[2], self.checked), strict=True):
            theorem.lemma(m, ~watch | self.is_sound(lookup))

        under_way = Cat(stage.purpose != Purpose.NONE for stage in stages[:3]).any()
        theorem.lemma(m, inside.part("table").unit.busy | ~under_way)
        of_command = [is_one_of(stage.purpose, *OF_COMMANDS) for stage in stages]
        visits = [is_one_of(stage.purpose, *VISITS) for stage in stages]
        theorem.lemma(m, sum(visits) == registers.visits)
        for older in range(1, len(stages)):
            for younger in range(older):
                theorem.lemma(m, ~(of_command[older] & visits[younger]))
        reclaim = inside.part("reclaim").unit
        holders = {Purpose.RETIRE: inside.part("retirement").unit}
        if self._design.config.codec:
            holders[Purpose.SETTLE] = inside.part("settlement").unit
        for purpose, unit in holders.items():
            of_unit = Cat(stage.purpose == purpose for stage in stages).any()
            theorem.lemma(m, (unit.busy & ~unit.pending) == of_unit)
            theorem.lemma(m, unit.busy | ~unit.pending)
            theorem.lemma(m, ~(waits | begins) | ~of_unit)
        visit = registers.next_visit
        for purpose, unit in ((Purpose.RECLAIM, reclaim), *holders.items()):
            next_one = ~registers.visits & ~registers.visited & (visit.purpose == purpose)
            theorem.lemma(m, ~next_one | unit.pending & (visit.zone == unit.zone))
        theorem.lemma(m, is_one_of(visit.purpose, Purpose.NONE, Purpose.RECLAIM, *holders))
        for stage in stages:
            known = (Purpose.NONE, *OF_COMMANDS, Purpose.RECLAIM, *holders)
            theorem.lemma(m, is_one_of(stage.purpose, *known))
            for purpose, unit in ((Purpose.RECLAIM, reclaim), *holders.items()):
                theorem.lemma(m, (stage.purpose != purpose) | (stage.zone == unit.zone))
        reclaims = Cat(stage.purpose == Purpose.RECLAIM for stage in stages).any()
        theorem.lemma(m, ~reclaims | reclaim.pending)

        alone = inside.ongoing(
            "DECIDE", "REFUSE", "LOOP", "ROOM", "COMPARE", "COMMIT", "REPORT", "WAIT_FOR_REPORT"
        )
        theorem.lemma(m, ~alone | ~registers.visits)
        theorem.lemma(m, loops | begins | waits | ~Cat(of_command[:3]).any())
        theorem.lemma(m, loops | decides | (self.checked.purpose == Purpose.SOURCE) & waits | ~of_command[3])
        is_update = command.operation == Operation.UPDATE
        expected = Mux(is_update, Purpose.SOURCE, Purpose.COMMAND)
        theorem.lemma(m, ~begins | (Value.cast(stages[0].purpose) == expected) & ~Cat(of_command[1:]).any())
        commands = [stage.purpose == Purpose.COMMAND for stage in stages]
        theorem.lemma(m, ~waits | (sum(commands[:3]) == 1))
        theorem.lemma(m, ~decides | commands[3])
        for stage, is_command, older in zip(stages, commands, [*stages[1:], None], strict=True):
            theorem.lemma(m, ~is_command | (stage.zone == command.zone))
            theorem.lemma(m, loops | (stage.purpose != Purpose.EACH))
            if older is not None:
                is_source = older.purpose == Purpose.SOURCE
                theorem.lemma(m, ~(waits & is_command) | (is_source == is_update))
                theorem.lemma(m, ~(waits & is_source) | is_command)
        theorem.lemma(m, ~waits | (stages[0].purpose != Purpose.SOURCE))

        self._overtaking(theorem, m, stages, visits)

        kinds = kinds_of(self._design.config, command)
        for name, value in kinds.items():
            theorem.lemma(m, inside.ongoing("IDLE") | (registers.kinds[name] == value))
        theorem.lemma(m, inside.legal())
        theorem.lemma(m, inside.ongoing("IDLE") | self._design.commands.valid & self._design.ready)
        theorem.lemma(m, self._design.ready | ~registers.visits)
        theorem.lemma(m, ~inside.ongoing("LOOP") | registers.kinds.loops)

    def _generations(self, theorem: Theorem, m: Module) -> None:
        """Generations and conditions are constant while a lookup is under way."""
        inside = self._inside.part("generations")
        changes, change = inside.unit.resets, inside["change"]
        none_under_way = Cat(stage.purpose == Purpose.NONE for stage in self.stages).all()
        theorem.lemma(m, ~(changes | change.restore) | none_under_way & self._inside.ongoing("ANSWER"))
        theorem.lemma(m, ~Value.cast(change).any() | self._inside.ongoing("OPEN", "ANSWER"))
        looks, command = self._inside.ongoing("LOOKUP", "WAIT", "DECIDE"), self._design.commands.payload
        for number, condition in (
            (command.stream, inside.unit.stream_condition),
            (command.source, inside.unit.source_condition),
        ):
            of_stream = inside["conditions"][number]
            theorem.lemma(m, ~looks | (Value.cast(condition) == Value.cast(of_stream)))

    def _overtaking(self, theorem: Theorem, m: Module, stages: tuple, visits: list) -> None:
        """Only the lookup of a command's own zone is overtaken, or of its source's.

        The zones of a loop rise, so none is written before its turn.
        """
        registers, zones = self._inside["registers"], self._design.config.geometry.zones
        theorem.lemma(m, registers.settings.first + registers.settings.zones <= zones)
        is_each = [stage.purpose == Purpose.EACH for stage in stages]
        for write, zone in ((self.writing, self.written_zone), (self.wrote, self.wrote_zone)):
            theorem.lemma(m, ~(is_each[0] & write) | (zone < stages[0].zone))
            theorem.lemma(m, ~(visits[0] & write) | (zone != stages[0].zone))
        is_last = registers.loop_left == 0
        in_loop = self._inside.ongoing("LOOP", "ROOM", "COMPARE")
        theorem.lemma(m, ~(in_loop & self.writing) | is_last | (self.written_zone < registers.loop_zone))
        refuses = self._inside.ongoing("REFUSE")
        compares = self._inside.ongoing("COMPARE", "REPORT", "WAIT_FOR_REPORT")
        theorem.lemma(m, ~(refuses | compares) | ~self.writing)
        free = self._inside.part("table").unit.free
        theorem.lemma(m, ~free | self._design.ready & ~self.writing)
        theorem.lemma(
            m, ~(in_loop | refuses) | is_last | (registers.loop_zone + registers.loop_left <= zones)
        )
        theorem.lemma(m, ~self._inside.ongoing("COMPARE") | ~registers.compares_own | ~is_last)
        for older, stage in enumerate(stages):
            theorem.lemma(m, ~(visits[older] | is_each[older]) | ~stage.overtaken)
            theorem.lemma(m, ~is_each[older] | is_last | (stage.zone < registers.loop_zone))
            for younger in range(older):
                rises = stage.zone < stages[younger].zone
                theorem.lemma(m, ~(is_each[older] & is_each[younger]) | rises)
