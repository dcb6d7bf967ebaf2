"""The zone state machine: a command's status, and the zone's next state."""

from amaranth import Const, Module, Mux, Signal, Value
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


class ZoneStateMachine(wiring.Component):
    """Checks 8 and 9 of `flashtrain.spec.nvme`, and the transitions of the zone state machine.

    Combinational. The status holds for every operation, except the comparison of zones by a commit. The other
    outputs are valid with success, for the operations that change zones. These are APPEND, WRITE, UPDATE,
    SEND, RETIRE, RESTORE with action ZONE, and RESET, which is a SEND of action RESET with `select_all`.

    Members
    -------
    command : In(Command)
    zone : In(ZoneCondition)         the command's zone, or with `select_all` each zone of the stream in turn
    source_zone : In(ZoneCondition)  of an update: the source's zone of the same index
    stream, source : In(StreamCondition)   the command's, and its source
    in_use : In(ZonesInUse)          of the command's stream
    recovering : In(1)
    status : Out(11)
    zone_after : Out(ZoneCondition)  the zone after the command
    in_use_after : Out(ZonesInUse)
    selected : Out(1)                `select_all` of this action includes this zone
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "command": In(Command(config)),
            "zone": In(ZoneCondition(config)),
            "source_zone": In(ZoneCondition(config)),
            "stream": In(StreamCondition()),
            "source": In(StreamCondition()),
            "in_use": In(ZonesInUse(config)),
            "recovering": In(1),
            "status": Out(STATUS_BITS),
            "zone_after": Out(ZoneCondition(config)),
            "in_use_after": Out(ZonesInUse(config)),
            "selected": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.zone_after.eq(self.zone)
        m.d.comb += [
            self.in_use_after.open.eq(
                self.in_use.open - _is_open(self.zone.state) + _is_open(self.zone_after.state)
            ),
            self.in_use_after.active.eq(
                self.in_use.active - _is_active(self.zone.state) + _is_active(self.zone_after.state)
            ),
        ]
        with m.Switch(self.command.operation):
            with m.Case(Operation.APPEND, Operation.WRITE, Operation.UPDATE):
                self._append(m)
            with m.Case(Operation.READ):
                self._read(m)
            with m.Case(Operation.SEND):
                self._transition(m)
                with m.If(self.command.select_all):
                    self._select_all(m)
            with m.Case(Operation.RETIRE):
                self._retire(m)
            with m.Case(Operation.RESET):
                m.d.comb += self.in_use_after.eq(0)
            with m.Case(Operation.INSPECT):
                end = self.command.offset + self.command.blocks
                with m.If(end > self.config.geometry.zone_capacity):
                    m.d.comb += self.status.eq(Status.ZONE_BOUNDARY_ERROR)
            with m.Case(Operation.RESTORE):
                with m.If(self.command.action == RestoreAction.ZONE):
                    self._restore(m)
            with m.Case(Operation.GENERATION):
                with m.If((self.command.action == GenerationAction.COMMIT) & ~self.stream.uncommitted):
                    m.d.comb += self.status.eq(Status.INVALID_FIELD)
        self._check_streams(m)
        return m

    def _check_streams(self, m: Module) -> None:
        """Refusals that do not depend on the zone."""
        operation, action = self.command.operation, self.command.action
        is_update = operation == Operation.UPDATE
        loses = (action == ZoneAction.RESET) | (action == ZoneAction.OFFLINE)
        loses_data = (operation == Operation.SEND) & loses
        loses_data |= (operation == Operation.RESET) | (operation == Operation.RETIRE)
        appends = is_update | (operation == Operation.APPEND) | (operation == Operation.WRITE)
        pins = (operation == Operation.GENERATION) & (action == GenerationAction.PIN)
        not_ready = ((operation == Operation.READ) | pins) & self.stream.uncommitted
        not_ready |= is_update & self.source.uncommitted
        with m.If(not_ready):
            m.d.comb += self.status.eq(Status.NAMESPACE_NOT_READY)
        with m.If(self.stream.pinned & (loses_data | appends)):
            m.d.comb += self.status.eq(Status.NAMESPACE_WRITE_PROTECTED)
        restores_stream = (operation == Operation.RESTORE) & (action == RestoreAction.STREAM)
        with m.If(restores_stream & self.stream.restored):
            m.d.comb += self.status.eq(Status.COMMAND_SEQUENCE_ERROR)
        recovers = (operation == Operation.INSPECT) | (operation == Operation.RESTORE)
        with m.If(recovers & ~self.recovering):
            m.d.comb += self.status.eq(Status.COMMAND_SEQUENCE_ERROR)
        with m.If(~recovers & self.recovering):
            m.d.comb += self.status.eq(Status.NAMESPACE_NOT_READY)

    def _append(self, m: Module) -> None:
        g = self.config.geometry
        capacity, tile_bits = g.zone_capacity, g.channel_bits + g.plane_bits
        command, zone, source = self.command, self.zone, self.source_zone
        is_update = command.operation == Operation.UPDATE
        misplaced = (command.operation == Operation.WRITE) & (command.offset != zone.pointer)
        misplaced |= is_update & zone.pointer[:tile_bits].any()
        written = Mux(is_update, command.rows << tile_bits, command.blocks)
        is_exact = Const(1)  # it takes as many blocks as it is checked for
        if self.config.codec:
            is_exact = command.codec == Codec.RAW
            written = Mux(is_exact, written, command.bound)
        end = Signal(range(capacity + (self.config.max_blocks << g.plane_bits) + 1))
        m.d.comb += end.eq(zone.pointer + written)
        with m.If(zone.state == ZoneState.READ_ONLY):
            m.d.comb += self.status.eq(Status.ZONE_IS_READ_ONLY)
        with m.Elif(zone.state == ZoneState.OFFLINE):
            m.d.comb += self.status.eq(Status.ZONE_IS_OFFLINE)
        with m.Elif(zone.state == ZoneState.FULL):
            m.d.comb += self.status.eq(Status.ZONE_IS_FULL)
        with m.Elif(misplaced):
            m.d.comb += self.status.eq(Status.ZONE_INVALID_WRITE)
        with m.Elif(end > capacity):
            m.d.comb += self.status.eq(Status.ZONE_BOUNDARY_ERROR)
        with m.Elif(is_update & (source.state == ZoneState.OFFLINE)):
            m.d.comb += self.status.eq(Status.ZONE_IS_OFFLINE)
        with m.Elif(is_update & (end > source.pointer)):
            m.d.comb += self.status.eq(Status.UNWRITTEN_BLOCK)
        with m.Elif(is_update & source.expired):
            m.d.comb += self.status.eq(Status.DATA_EXPIRED)
        with m.Else():
            m.d.comb += self.status.eq(self._lacking_resource())

        m.d.comb += self.zone_after.pointer.eq(end)
        with m.If((end == capacity) & is_exact):
            m.d.comb += self.zone_after.state.eq(ZoneState.FULL)
        with m.Elif(zone.state != ZoneState.EXPLICITLY_OPEN):
            m.d.comb += self.zone_after.state.eq(ZoneState.IMPLICITLY_OPEN)

    def _lacking_resource(self) -> Value:
        """The status of a command that opens the zone: success, or the resource that the stream lacks."""
        state, in_use = self.zone.state, self.in_use
        no_active = (state == ZoneState.EMPTY) & (in_use.active == self.config.max_active)
        no_open = ~_is_open(state) & (in_use.open == self.config.max_open)
        open_status = Mux(no_open, Status.TOO_MANY_OPEN_ZONES, Status.SUCCESS)
        return Mux(no_active, Status.TOO_MANY_ACTIVE_ZONES, open_status)

    def _read(self, m: Module) -> None:
        command = self.command
        end = command.offset + command.blocks
        with m.If(self.zone.state == ZoneState.OFFLINE):
            m.d.comb += self.status.eq(Status.ZONE_IS_OFFLINE)
        with m.Elif(end > self.config.geometry.zone_size):
            m.d.comb += self.status.eq(Status.ZONE_BOUNDARY_ERROR)
        with m.Elif(end > self.zone.pointer):
            lost = self.zone.unsure
            m.d.comb += self.status.eq(Mux(lost, Status.UNRECOVERED_READ_ERROR, Status.UNWRITTEN_BLOCK))
        with m.Elif(self.zone.expired):
            m.d.comb += self.status.eq(Status.DATA_EXPIRED)

    def _transition(self, m: Module) -> None:
        """Zone management of one zone."""
        state, after = self.zone.state, self.zone_after
        m.d.comb += self.status.eq(Status.INVALID_ZONE_TRANSITION)
        with m.Switch(self.command.action):
            with m.Case(ZoneAction.OPEN):
                with m.If(_is_active(state) | (state == ZoneState.EMPTY)):
                    m.d.comb += self.status.eq(self._lacking_resource())
                m.d.comb += after.state.eq(ZoneState.EXPLICITLY_OPEN)
            with m.Case(ZoneAction.CLOSE):
                with m.If(_is_active(state)):
                    m.d.comb += self.status.eq(Status.SUCCESS)
                m.d.comb += after.state.eq(ZoneState.CLOSED)
            with m.Case(ZoneAction.FINISH):
                with m.If(~is_retired(state)):
                    m.d.comb += self.status.eq(Status.SUCCESS)
                # The pointer stays: it bounds reads.
                m.d.comb += after.state.eq(ZoneState.FULL)
            with m.Case(ZoneAction.RESET):
                with m.If(~is_retired(state)):
                    m.d.comb += self.status.eq(Status.SUCCESS)
                m.d.comb += [after.state.eq(ZoneState.EMPTY), after.pointer.eq(0)]
            with m.Case(ZoneAction.OFFLINE):
                with m.If(is_retired(state)):
                    m.d.comb += self.status.eq(Status.SUCCESS)
                m.d.comb += after.state.eq(ZoneState.OFFLINE)

    def _select_all(self, m: Module) -> None:
        """Zone management of all zones of a stream: `zone_after` of the selected ones is as for one zone."""
        state, in_use, in_use_after = self.zone.state, self.in_use, self.in_use_after
        m.d.comb += self.status.eq(Status.SUCCESS)
        with m.Switch(self.command.action):
            with m.Case(ZoneAction.OPEN):
                with m.If(in_use.active > self.config.max_open):
                    m.d.comb += self.status.eq(Status.TOO_MANY_OPEN_ZONES)
                m.d.comb += [
                    self.selected.eq(state == ZoneState.CLOSED),
                    in_use_after.open.eq(in_use.active),
                    in_use_after.active.eq(in_use.active),
                ]
            with m.Case(ZoneAction.CLOSE):
                m.d.comb += [
                    self.selected.eq(_is_open(state)),
                    in_use_after.open.eq(0),
                    in_use_after.active.eq(in_use.active),
                ]
            with m.Case(ZoneAction.FINISH):
                m.d.comb += [self.selected.eq(_is_active(state)), in_use_after.eq(0)]
            with m.Case(ZoneAction.RESET):
                m.d.comb += in_use_after.eq(0)
            with m.Case(ZoneAction.OFFLINE):
                m.d.comb += [self.selected.eq(state == ZoneState.READ_ONLY), in_use_after.eq(in_use)]

    def _restore(self, m: Module) -> None:
        command, after = self.command, self.zone_after
        no_active = self.in_use.active == self.config.max_active
        m.d.comb += [after.state.eq(command.restored_state), after.pointer.eq(command.offset + 1)]
        with m.If(self.zone.state != ZoneState.EMPTY):
            m.d.comb += self.status.eq(Status.INVALID_ZONE_TRANSITION)
        with m.Elif(command.offset >= self.config.geometry.zone_capacity):
            m.d.comb += self.status.eq(Status.ZONE_BOUNDARY_ERROR)
        with m.Elif((command.restored_state == ZoneState.CLOSED) & no_active):
            m.d.comb += self.status.eq(Status.TOO_MANY_ACTIVE_ZONES)

    def _retire(self, m: Module) -> None:
        state, target = self.zone.state, self.command.action
        with m.If((state == ZoneState.OFFLINE) | (state == target)):
            m.d.comb += self.status.eq(Status.INVALID_ZONE_TRANSITION)
        m.d.comb += self.zone_after.state.eq(target)


def _is_open(state: Value) -> Value:
    return (state == ZoneState.IMPLICITLY_OPEN) | (state == ZoneState.EXPLICITLY_OPEN)


def _is_active(state: Value) -> Value:
    return _is_open(state) | (state == ZoneState.CLOSED)
