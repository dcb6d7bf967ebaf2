"""The zone state machine: a command's status, and the zone's next state."""

from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STATUS_BITS, Command, Operation
from flashtrain.rtl.zones.generations import StreamCondition
from flashtrain.rtl.zones.table import is_retired
from flashtrain.spec import FmsConfig, Status, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Codec


class ZoneCondition(data.StructLayout):
    """The condition of a zone."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "state": 4,  # ZoneState
            "pointer": config.geometry.zone_size_bits + 1,
            "unsure": 1,  # blocks behind it may have been written, and lost
            "expired": 1,  # the data are too old to be read
        })  # fmt: skip


class ZonesInUse(data.StructLayout):
    """Counts of a stream's zones: open, explicitly or implicitly; active, which is open or closed."""

    def __init__(self, config: FmsConfig):
        super().__init__({"open": range(config.max_open + 1), "active": range(config.max_active + 1)})


class _Prepared:
    """Registers of what the checks of a zone need, and what does not depend on it."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        most = config.max_blocks << g.plane_bits  # blocks of a command
        self.operation = Signal(Operation)
        # A `ZoneAction`, or the `ZoneState` to retire to: the decoder has refused what takes more bits.
        self.action, self.select_all = Signal(4), Signal()
        self.restores_zone, self.restores_past, self.restores_closed = Signal(), Signal(), Signal()
        self.status, self.fails = Signal(STATUS_BITS), Signal()  # of the command and its streams
        self.written = Signal(range(most + 1))  # blocks that an append takes
        self.most_before = Signal(range(-most, g.zone_capacity + 1))  # pointer with which it fits
        self.source_before = Signal(range(-most, g.zone_capacity + 1))  # with which the source has all of it
        self.source_page = Signal(g.page_bits)
        self.source_offline, self.source_expired = Signal(), Signal()
        self.is_exact = Signal() if config.codec else Const(1)  # it takes as many blocks as it is checked for
        self.end = Signal(range(g.zone_size + (1 << config.count_bits)))  # of a read
        self.past_zone, self.past_capacity = Signal(), Signal()
        self.in_use = Signal(ZonesInUse(config))
        self.no_open, self.no_active, self.many_active = Signal(), Signal(), Signal()


Refusals = list[tuple[ValueLike, Status]]
"""Conditions under which a command fails, with their statuses; the first that holds gives the status."""


def status_of(refusals: Refusals) -> tuple[ValueLike, Value]:
    """The status, and whether there is a failure, which does not wait for the choice of the status."""
    status: ValueLike = Const(Status.SUCCESS, STATUS_BITS)
    for condition, refusal in reversed(refusals):
        status = Mux(condition, Const(refusal, STATUS_BITS), status)
    return status, Cat(condition for condition, _ in refusals).any()


_CHECKS = {
    "is_read_only": Status.ZONE_IS_READ_ONLY,
    "is_offline": Status.ZONE_IS_OFFLINE,
    "is_full": Status.ZONE_IS_FULL,
    "misplaced": Status.ZONE_INVALID_WRITE,
    "cannot_change": Status.INVALID_ZONE_TRANSITION,
    "past_end": Status.ZONE_BOUNDARY_ERROR,
    "source_offline": Status.ZONE_IS_OFFLINE,
    "lost": Status.UNRECOVERED_READ_ERROR,
    "unwritten": Status.UNWRITTEN_BLOCK,
    "expired": Status.DATA_EXPIRED,
    "no_active": Status.TOO_MANY_ACTIVE_ZONES,
    "no_open": Status.TOO_MANY_OPEN_ZONES,
}
"""What a zone can be refused for, in the order of the checks of every command, and its status."""

_GROUP = 4
"""Checks of which a register tells whether one refuses."""


@dataclass(frozen=True)
class _Change:
    """A zone, and what the command makes of it."""

    prepared: _Prepared
    zone: data.View
    refused: data.View  # a bit for each of `_CHECKS`
    after: data.View
    selected: Signal
    in_use: data.View  # after a command on all zones

    def refuse(self, **checks: ValueLike) -> list:
        """Statements that refuse the zone under these conditions."""
        return [self.refused[name].eq(condition) for name, condition in checks.items()]

    def refuse_to_open(self) -> list:
        """Statements that refuse the zone if the stream lacks the resources to open it."""
        state, prepared = self.zone.state, self.prepared
        return self.refuse(
            no_active=(state == ZoneState.EMPTY) & prepared.no_active,
            no_open=~is_open(state) & prepared.no_open,
        )


class ZoneStateMachine(wiring.Component):
    """Checks 8 and 9 of `flashtrain.spec.nvme`, and the transitions of the zone state machine.

    A command that has failed an earlier check keeps its status. The status holds for every operation, except
    the comparison of zones by a commit. The other outputs are valid with success, for the operations that
    change zones. These are APPEND, WRITE, UPDATE, SEND, RETIRE, RESTORE with action ZONE, and RESET, which is
    a SEND of action RESET with `select_all`.

    All that needs no zone is computed first, so that one addition or comparison follows a zone.

    Latency: 1 cycle from a zone to the outputs, 2 cycles from all others; `status` and `in_use_after` are
    computed behind the registers. The source's zone comes in an earlier cycle than the command's.

    Members
    -------
    command : In(Command)
    zone : In(ZoneCondition)         the command's zone, or with `select_all` each zone of the stream in turn
    is_source : In(1)                `zone` is the source's, of an update; it is kept for the command's
    stream, source : In(StreamCondition)   the command's, and its source
    in_use : In(ZonesInUse)          of the command's stream
    recovering : In(1)
    status : Out(11)
    fails : Out(1)                   it is not success
    zone_after : Out(ZoneCondition)  the zone after the command
    in_use_after : Out(ZonesInUse)
    selected : Out(1)                `select_all` of this action includes this zone
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "command": In(Command(config)),
            "zone": In(ZoneCondition(config)),
            "is_source": In(1),
            "stream": In(StreamCondition()),
            "source": In(StreamCondition()),
            "in_use": In(ZonesInUse(config)),
            "recovering": In(1),
            "status": Out(STATUS_BITS),
            "fails": Out(1),
            "zone_after": Out(ZoneCondition(config)),
            "in_use_after": Out(ZonesInUse(config)),
            "selected": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        prepared = _Prepared(self.config)
        self._prepare(m, prepared)
        change = _Change(
            prepared,
            self.zone,
            refused=Signal(refusals := data.StructLayout(dict.fromkeys(_CHECKS, 1))),
            after=Signal(ZoneCondition(self.config)),
            selected=Signal(),
            in_use=Signal(ZonesInUse(self.config)),
        )
        m.d.comb += change.after.eq(self.zone)
        with m.Switch(prepared.operation):
            with m.Case(Operation.APPEND, Operation.WRITE, Operation.UPDATE):
                self._append(m, change)
            with m.Case(Operation.READ):
                self._read(m, change)
            with m.Case(Operation.SEND):
                self._transition(m, change)
                with m.If(prepared.select_all):
                    self._select_all(m, change)
            with m.Case(Operation.RETIRE):
                self._retire(m, change)
            with m.Case(Operation.INSPECT):
                m.d.comb += change.refuse(past_end=prepared.past_capacity)
            with m.Case(Operation.RESTORE):
                with m.If(prepared.restores_zone):
                    self._restore(m, change)
        refused, now = Signal(refusals), change.refused.as_value()
        groups = [now[first : first + _GROUP].any() for first in range(0, len(now), _GROUP)]
        some_refused = Signal(1 + len(groups))
        status, _ = status_of([(refused[name], status) for name, status in _CHECKS.items()])
        m.d.comb += [
            self.status.eq(Mux(prepared.fails, prepared.status, status)),
            self.fails.eq(some_refused.any()),
        ]
        m.d.sync += [
            refused.eq(change.refused),
            some_refused.eq(Cat(prepared.fails, groups)),
            self.zone_after.eq(change.after),
            self.selected.eq(change.selected),
        ]
        self._count(m, change)
        return m

    def _count(self, m: Module, change: _Change) -> None:
        """The stream's zones in use: a cycle later, so that they do not wait for the zone's next state."""
        was_open, was_active, for_all = Signal(), Signal(), Signal()
        in_use, in_use_of_all = Signal(ZonesInUse(self.config)), Signal(ZonesInUse(self.config))
        resets = self.command.operation == Operation.RESET
        sends_all = (self.command.operation == Operation.SEND) & self.command.select_all
        m.d.sync += [
            was_open.eq(is_open(self.zone.state)),
            was_active.eq(is_active(self.zone.state)),
            in_use.eq(change.prepared.in_use),
            for_all.eq(resets | sends_all),
            in_use_of_all.eq(Mux(resets, 0, change.in_use)),
        ]
        state = self.zone_after.state
        m.d.comb += [
            self.in_use_after.open.eq(in_use.open - was_open + is_open(state)),
            self.in_use_after.active.eq(in_use.active - was_active + is_active(state)),
        ]
        with m.If(for_all):
            m.d.comb += self.in_use_after.eq(in_use_of_all)

    def _prepare(self, m: Module, prepared: _Prepared) -> None:
        """Inputs of the checks from the command, its stream, and the source's zone."""
        g, command = self.config.geometry, self.command
        capacity, tile_bits = g.zone_capacity, g.channel_bits + g.plane_bits
        is_update = command.operation == Operation.UPDATE
        written = Signal.like(prepared.written)
        m.d.comb += written.eq(Mux(is_update, command.rows << tile_bits, command.blocks))
        if self.config.codec:
            is_exact = command.codec == Codec.RAW
            m.d.sync += prepared.is_exact.eq(is_exact)
            with m.If(~is_exact):
                m.d.comb += written.eq(command.bound)
        end = command.offset + command.blocks
        m.d.sync += [
            prepared.operation.eq(command.operation),
            prepared.action.eq(command.action),
            prepared.select_all.eq(command.select_all),
            prepared.restores_zone.eq(command.action == RestoreAction.ZONE),
            prepared.restores_past.eq(command.offset >= capacity),
            prepared.restores_closed.eq(command.restored_state == ZoneState.CLOSED),
            prepared.written.eq(written),
            prepared.source_page.eq(command.source_page),
            prepared.most_before.eq(capacity - written),
            prepared.end.eq(end),
            prepared.past_zone.eq(end > g.zone_size),
            prepared.past_capacity.eq(end > capacity),
            prepared.in_use.eq(self.in_use),
            prepared.no_open.eq(self.in_use.open == self.config.max_open),
            prepared.no_active.eq(self.in_use.active == self.config.max_active),
            prepared.many_active.eq(self.in_use.active > self.config.max_open),
        ]
        status, fails = status_of(self._of_streams())
        has_failed = command.status != Status.SUCCESS
        m.d.sync += [
            prepared.status.eq(Mux(has_failed, command.status, status)),
            prepared.fails.eq(has_failed | fails),
        ]
        with m.If(self.is_source):
            m.d.sync += [
                prepared.source_offline.eq(self.zone.state == ZoneState.OFFLINE),
                prepared.source_expired.eq(self.zone.expired),
                prepared.source_before.eq(self.zone.pointer - prepared.written),
            ]

    def _of_streams(self) -> Refusals:
        """Refusals that do not depend on the zone."""
        operation, action = self.command.operation, self.command.action
        is_update = operation == Operation.UPDATE
        loses = (action == ZoneAction.RESET) | (action == ZoneAction.OFFLINE)
        loses_data = (operation == Operation.SEND) & loses
        loses_data |= (operation == Operation.RESET) | (operation == Operation.RETIRE)
        appends = is_update | (operation == Operation.APPEND) | (operation == Operation.WRITE)
        of_generation = action[:3]  # the decoder has refused what takes more bits
        commits = (of_generation == GenerationAction.COMMIT) | (of_generation == GenerationAction.ADVANCE)
        commits &= operation == Operation.GENERATION
        pins = (operation == Operation.GENERATION) & (action == GenerationAction.PIN)
        not_ready = ((operation == Operation.READ) | pins) & self.stream.uncommitted
        not_ready |= is_update & self.source.uncommitted
        restores_stream = (operation == Operation.RESTORE) & (action == RestoreAction.STREAM)
        recovers = (operation == Operation.INSPECT) | (operation == Operation.RESTORE)
        return [
            (~recovers & self.recovering, Status.NAMESPACE_NOT_READY),
            (recovers & ~self.recovering, Status.COMMAND_SEQUENCE_ERROR),
            (restores_stream & self.stream.restored, Status.COMMAND_SEQUENCE_ERROR),
            (self.stream.pinned & (loses_data | appends), Status.NAMESPACE_WRITE_PROTECTED),
            (not_ready, Status.NAMESPACE_NOT_READY),
            (commits & ~self.stream.uncommitted, Status.INVALID_FIELD),
        ]

    def _append(self, m: Module, change: _Change) -> None:
        g, command, prepared, zone = self.config.geometry, self.command, change.prepared, change.zone
        tile_bits = g.channel_bits + g.plane_bits
        is_update = prepared.operation == Operation.UPDATE
        misplaced = (prepared.operation == Operation.WRITE) & (command.offset != zone.pointer)
        misplaced |= is_update & zone.pointer[:tile_bits].any()
        source_offset = Cat(zone.pointer[: tile_bits + g.die_bits], prepared.source_page)
        m.d.comb += change.refuse(
            is_read_only=zone.state == ZoneState.READ_ONLY,
            is_offline=zone.state == ZoneState.OFFLINE,
            is_full=zone.state == ZoneState.FULL,
            misplaced=misplaced,
            past_end=zone.pointer > prepared.most_before,
            source_offline=is_update & prepared.source_offline,
            unwritten=is_update & (source_offset > prepared.source_before),
            expired=is_update & prepared.source_expired,
        )
        m.d.comb += change.refuse_to_open()
        m.d.comb += change.after.pointer.eq(zone.pointer + prepared.written)
        # Only an append with a codec may take fewer blocks than it is checked for.
        with m.If((zone.pointer == prepared.most_before) & prepared.is_exact):
            m.d.comb += change.after.state.eq(ZoneState.FULL)
        with m.Elif(zone.state != ZoneState.EXPLICITLY_OPEN):
            m.d.comb += change.after.state.eq(ZoneState.IMPLICITLY_OPEN)

    def _read(self, m: Module, change: _Change) -> None:
        zone, prepared = change.zone, change.prepared
        unwritten = prepared.end > zone.pointer
        m.d.comb += change.refuse(
            is_offline=zone.state == ZoneState.OFFLINE,
            past_end=prepared.past_zone,
            lost=unwritten & zone.unsure,
            unwritten=unwritten,
            expired=zone.expired,
        )

    def _transition(self, m: Module, change: _Change) -> None:
        """Zone management of one zone."""
        state, after = change.zone.state, change.after
        retired = is_retired(state)

        def unless(condition: Value) -> list:
            return change.refuse(cannot_change=~condition)

        m.d.comb += unless(Const(0))
        with m.Switch(change.prepared.action):
            with m.Case(ZoneAction.OPEN):
                opens = is_active(state) | (state == ZoneState.EMPTY)
                m.d.comb += [
                    *unless(opens),
                    *change.refuse_to_open(),
                    after.state.eq(ZoneState.EXPLICITLY_OPEN),
                ]
            with m.Case(ZoneAction.CLOSE):
                m.d.comb += [*unless(is_active(state)), after.state.eq(ZoneState.CLOSED)]
            with m.Case(ZoneAction.FINISH):
                # The pointer stays: it bounds reads.
                m.d.comb += [*unless(~retired), after.state.eq(ZoneState.FULL)]
            with m.Case(ZoneAction.RESET):
                m.d.comb += [*unless(~retired), after.state.eq(ZoneState.EMPTY), after.pointer.eq(0)]
            with m.Case(ZoneAction.OFFLINE):
                m.d.comb += [*unless(retired), after.state.eq(ZoneState.OFFLINE)]

    def _select_all(self, m: Module, change: _Change) -> None:
        """Zone management of all zones of a stream: `zone_after` of the selected ones is as for one zone."""
        state, in_use, in_use_after = change.zone.state, change.prepared.in_use, change.in_use
        m.d.comb += change.refused.eq(0)
        with m.Switch(change.prepared.action):
            with m.Case(ZoneAction.OPEN):
                m.d.comb += [
                    *change.refuse(no_open=change.prepared.many_active),
                    change.selected.eq(state == ZoneState.CLOSED),
                    in_use_after.open.eq(in_use.active),
                    in_use_after.active.eq(in_use.active),
                ]
            with m.Case(ZoneAction.CLOSE):
                m.d.comb += [
                    change.selected.eq(is_open(state)),
                    in_use_after.open.eq(0),
                    in_use_after.active.eq(in_use.active),
                ]
            with m.Case(ZoneAction.FINISH):
                m.d.comb += [change.selected.eq(is_active(state)), in_use_after.eq(0)]
            with m.Case(ZoneAction.RESET):
                m.d.comb += in_use_after.eq(0)
            with m.Case(ZoneAction.OFFLINE):
                m.d.comb += [change.selected.eq(state == ZoneState.READ_ONLY), in_use_after.eq(in_use)]

    def _restore(self, m: Module, change: _Change) -> None:
        command, after = self.command, change.after
        m.d.comb += [
            after.state.eq(command.restored_state),
            after.pointer.eq(command.offset + 1),
            *change.refuse(
                cannot_change=change.zone.state != ZoneState.EMPTY,
                past_end=change.prepared.restores_past,
                no_active=change.prepared.restores_closed & change.prepared.no_active,
            ),
        ]

    def _retire(self, m: Module, change: _Change) -> None:
        state, target = change.zone.state, change.prepared.action
        retired = (state == ZoneState.OFFLINE) | (state == target)
        m.d.comb += [
            *change.refuse(cannot_change=retired),
            change.after.state.eq(target),
        ]


def is_open(state: Value) -> Value:
    """Whether a zone of this `ZoneState` is open, explicitly or implicitly."""
    return (state == ZoneState.IMPLICITLY_OPEN) | (state == ZoneState.EXPLICITLY_OPEN)


def is_active(state: Value) -> Value:
    """Whether a zone of this `ZoneState` is open or closed."""
    return is_open(state) | (state == ZoneState.CLOSED)
