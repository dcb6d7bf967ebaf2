"""The zone manager: from checked commands to jobs."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.layouts import (
    SEQUENCE_BITS,
    STATUS_BITS,
    TIME_BITS,
    Answer,
    Command,
    Opening,
    Operation,
    ReadJob,
    Retired,
    Settled,
    StreamTable,
    WriteJob,
    coded,
)
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.zones.allocator import ErasedZone
from flashtrain.rtl.zones.generations import Generations
from flashtrain.rtl.zones.in_flight import CommandsInFlight, Retirement
from flashtrain.rtl.zones.jobs import CommandKinds, JobPlace, Jobs
from flashtrain.rtl.zones.report import ReportRequest
from flashtrain.rtl.zones.restore import Restore, RestoredZone, spare_use_ports
from flashtrain.rtl.zones.settlement import Settlement
from flashtrain.rtl.zones.state_machine import ZoneCondition, ZonesInUse, ZoneStateMachine
from flashtrain.rtl.zones.table import GENERATION_BITS, Reclaim, ZoneAge, ZoneEntry, ZoneTable, is_retired
from flashtrain.spec import FmsConfig, Status, ZoneState
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS


class _Registers:
    """The registers that the manager's states share."""

    def __init__(self, config: FmsConfig):
        zone_bits = config.geometry.zone_bits
        self.in_use = Array(Signal(ZonesInUse(config), name=f"in_use{n}") for n in range(MAX_STREAMS))
        self.jobs_sent = Signal(SEQUENCE_BITS)  # write jobs
        self.source_zone = Signal(ZoneCondition(config))  # of an update, from SOURCE on
        self.status = Signal(STATUS_BITS)  # from DECIDE on
        self.place = Signal(JobPlace(config))
        self.tag = Signal(config.tag_bits)  # from OPEN on
        self.loop_zone = Signal(zone_bits)
        self.loop_left = Signal(zone_bits + 1)
        self.compared_zone = Signal(zone_bits)  # the source's, of a commit
        self.required_pointer = Signal(config.geometry.zone_size_bits + 1)  # its write pointer
        self.reclaim_owed = Signal()  # a command passed since the last step of the scan


class ZoneManager(wiring.Component):
    """Takes commands one at a time, in order, checks their stream and zone, and makes jobs of them.

    A command stays at the head of its stream until its job or its answer was accepted:

        IDLE     the zone's entry is read, or of an update the source's
        SOURCE   only an update: the source's entry is valid, and the zone's is read
        DECIDE   the entry is valid: the command's status, and the zone's next state
        OPEN     the tracker takes the command, with a tag; the entry is written
        SEND     the job

    A zone whose program failed becomes read-only (`Retirement`) before the next command is checked. So the
    completion of that append follows the zone's change, and no reset, pin or commit that waited for the
    append comes between. That takes 2 cycles, or none beside a command that waits for the tracker.

    Latency: 3 cycles from a command to its job, 4 for an update, 2 to its answer.

    Throughput:

        ======================================== ===================
        command                                  cycles
        ======================================== ===================
        with a job                               4
        update                                   5
        with an answer                           3
        that restores a zone                     4
        on all zones of a stream, and commits    2 more per zone
        ======================================== ===================

    A command that lacks only an open resource scans its stream's zones, 2 cycles each, for one that is
    implicitly open. That zone is closed, and the command is checked anew.

    A stream reset takes as long as any other command. A scan over the zones follows it (`Reclaim`), 2 cycles
    each, in cycles without a command and one step after each command.

    A command that depends on others in flight (`CommandsInFlight`) stalls those behind it. So does an append
    or update to an empty zone until an erased physical zone is available. If none is, and none is to be
    erased or reclaimed, it fails with INTERNAL_ERROR: physical zones were lost to failed erases.

    An append to a stream with a codec reserves its bound; a pointer returns by what was not written
    (`Settlement`) before the next command is checked, in 2 cycles as above.

    A retired zone keeps its physical zone, which so is never used again.

    During recovery only inspections and RESTORE commands are carried out (`Restore`); an inspection becomes
    a job of the physical zone that it names.

    Members
    -------
    streams : In(StreamTable).array(8)   settings; constant until the next reset
    commands : In(stream(Command))
    tags : In(stream)                    free tags
    open : Out(stream(Opening))          accepted before the command's job is sent
    write : Out(stream(WriteJob))
    read : Out(stream(ReadJob))
    answers : Out(stream(Answer))        commands that end here
    retired : In(stream(Retired))        commands that the tracker has finished, see `Retirement`
    settled : In(stream(Settled))        with a codec: ends of encoded appends, see `Settlement`
    issued : In(32)                      write jobs, flushes included, whose pages have all been allocated
    generation : Out(16).array(8)        how often each stream was reset
    next_zone : In(stream(ErasedZone))   erased physical zones
    release : Out(stream)                physical zones that are no longer needed
    exhausted : In(1)                    no `next_zone` comes until one is released
    time : In(32)                        seconds
    recover : In(1), recovering : Out(1), sequence : Out(32)   see `Restore`
    restored : Out(stream(RestoredZone))
    spare_use, spare_channel : Out   see `Restore`
    report : Out(stream(ReportRequest))  one at a time
    report_done : In(stream)             its status
    report_zone : In                     a logical zone, for the report
    report_entry : Out(ZoneEntry)        its entry, a cycle later
    report_due : Out(1)                  its data are old
    zone_waits : Out(1)                  a command stalls for an erased zone
    idle : Out(1)                        no command here or in flight, nothing to reclaim
    ready : Out(1)                       initialised
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        zone_bits = config.geometry.zone_bits
        super().__init__({
            "streams": In(StreamTable(config)).array(MAX_STREAMS),
            "commands": In(stream.Signature(Command(config))),
            "tags": In(stream.Signature(config.tag_bits)),
            "open": Out(stream.Signature(Opening(config))),
            "write": Out(stream.Signature(WriteJob(config))),
            "read": Out(stream.Signature(ReadJob(config))),
            "answers": Out(stream.Signature(Answer(config))),
            "retired": In(stream.Signature(Retired(config))),
            **coded(config, {"settled": In(stream.Signature(Settled(config)))}),
            "issued": In(SEQUENCE_BITS),
            "generation": Out(GENERATION_BITS).array(MAX_STREAMS),
            "next_zone": In(stream.Signature(ErasedZone(config))),
            "release": Out(stream.Signature(zone_bits)),
            "exhausted": In(1),
            "time": In(TIME_BITS),
            "recover": In(1),
            "recovering": Out(1),
            "sequence": Out(PageIdentity.sequence.width),
            "restored": Out(stream.Signature(RestoredZone(config))),
            **spare_use_ports(config),
            "report": Out(stream.Signature(ReportRequest(config))),
            "report_done": In(stream.Signature(STATUS_BITS)),
            "report_zone": In(zone_bits),
            "report_entry": Out(ZoneEntry(config)),
            "report_due": Out(1),
            "zone_waits": Out(1),
            "idle": Out(1),
            "ready": Out(1),
        })  # fmt: skip
        self._table = ZoneTable(config)
        self._state_machine = ZoneStateMachine(config)
        self._in_flight = CommandsInFlight(config)
        self._jobs = Jobs(config)
        self._reclaim = Reclaim(config)
        self._age = ZoneAge()
        self._restore = Restore(config)
        self._retirement = Retirement(config)
        self._settlement = Settlement(config) if config.codec else None
        self._generations = Generations(config)

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = self._table
        m.submodules.state_machine = self._state_machine
        m.submodules.in_flight = self._in_flight
        m.submodules.jobs = self._jobs
        m.submodules.reclaim = self._reclaim
        m.submodules.age = self._age
        m.submodules.restore = self._restore
        m.submodules.retirement = retirement = self._retirement
        m.submodules.generations = self._generations
        if settlement := self._settlement:
            m.submodules.settlement = settlement
            connect(m, settlement.settled, flipped(self.settled))
            m.d.comb += settlement.command.eq(self.commands.payload)
        connect(m, retirement.retired, flipped(self.retired))
        connect(m, self._restore.physical, flipped(self.restored))
        forward(m, self._restore, self, spare_use_ports(self.config))

        command = self.commands.payload
        kinds = CommandKinds(self.config, command)
        registers = _Registers(self.config)
        settings = Signal(StreamTable(self.config))
        source = Signal(StreamTable(self.config))
        m.d.comb += [
            settings.eq(Array(self.streams)[command.stream]),
            source.eq(Array(self.streams)[command.source]),
        ]
        allocates_zone = kinds.is_append & ~table.entry.mapped
        self._connect_generations(m)
        self._connect_state_machine(m, registers, settings)
        self._connect_units(m, settings)
        self._update_entry(m, kinds, registers, allocates_zone)
        self._retire_zone(m, registers)
        self._return_pointer(m)
        self._make_payloads(m, registers, settings)
        with m.If(self.release.valid & self.release.ready):
            m.d.sync += self.release.valid.eq(0)

        with m.FSM(name="fsm") as fsm:
            with m.State("IDLE"):
                self._select(m, kinds, registers)
            with m.State("RETIRE"):
                m.next = "IDLE"  # `retirement.store`
            if self._settlement:
                with m.State("SETTLE"):
                    m.next = "IDLE"  # `settlement.store`
            with m.State("RECLAIM"):
                self._reclaim_entry(m, registers)
            with m.State("SOURCE"):
                self._keep_source(m, registers, source)
            with m.State("DECIDE"):
                self._decide(m, kinds, registers, settings, source, allocates_zone)
            self._send(m, kinds, registers)
            self._loop(m, registers)
            self._make_room(m, registers)
            self._commit(m, registers)
            self._report(m, registers)

        # OPEN and SEND leave the table's read port free.
        free = fsm.ongoing("IDLE") | fsm.ongoing("OPEN")
        if self._settlement:
            free &= ~self._settlement.store  # it may be of the same zone
        m.d.comb += retirement.read.eq(retirement.pending & free)
        with m.If(retirement.read):
            m.d.comb += table.zone.eq(retirement.zone)
        if settlement := self._settlement:
            free &= ~retirement.pending & ~retirement.store
            m.d.comb += settlement.read.eq(settlement.pending & free)
            with m.If(settlement.read):
                m.d.comb += table.zone.eq(settlement.zone)
        return m

    def _connect_generations(self, m: Module) -> None:
        command, generations = self.commands.payload, self._generations
        m.d.comb += [
            generations.stream.eq(command.stream),
            generations.source.eq(command.source),
            Cat(self.generation).eq(Cat(generations.generation)),
            Cat(self._table.generations).eq(Cat(generations.generation)),
            generations.restored.eq(command.generation),
            self._reclaim.start.eq(generations.resets),
        ]

    def _connect_state_machine(self, m: Module, registers: _Registers, settings) -> None:
        command, entry, machine = self.commands.payload, self._table.entry, self._state_machine
        m.d.comb += [
            machine.command.eq(command),
            machine.zone.state.eq(entry.state),
            machine.zone.pointer.eq(entry.pointer),
            machine.zone.unsure.eq(entry.unsure & entry.mapped),
            machine.zone.expired.eq(self._age.expired & settings.refuses),
            machine.source_zone.eq(registers.source_zone),
            machine.stream.eq(self._generations.stream_condition),
            machine.source.eq(self._generations.source_condition),
            machine.in_use.eq(registers.in_use[command.stream]),
            machine.recovering.eq(self._restore.recovering),
        ]

    def _connect_units(self, m: Module, settings) -> None:
        command, entry = self.commands.payload, self._table.entry
        in_flight, restore, age = self._in_flight, self._restore, self._age
        m.d.comb += [
            in_flight.command.eq(command),
            in_flight.opened.eq(self.open.valid & self.open.ready),
            in_flight.retired.eq(self.retired.valid & self.retired.ready),
            in_flight.retired_command.eq(self.retired.payload),
            restore.recover.eq(self.recover),
            restore.command.eq(command),
            restore.allocated.eq(self.next_zone.valid & self.next_zone.ready),
            self.recovering.eq(restore.recovering),
            self.sequence.eq(restore.sequence),
            age.time.eq(self.time),
            age.since.eq(entry.time),
            age.retention.eq(settings.retention),
            self.report_entry.eq(entry),
            self.report_due.eq(age.due),
            self.ready.eq(self._table.ready),
        ]

    def _update_entry(self, m: Module, kinds: CommandKinds, registers: _Registers, allocates_zone) -> None:
        """The entry to be stored when the command, or a step of its loop, changes the zone."""
        command, table, restore = self.commands.payload, self._table, self._restore
        entry, stored, zone_after = table.entry, table.write_entry, self._state_machine.zone_after
        m.d.comb += [
            table.zone.eq(command.zone),
            table.write_zone.eq(command.zone),
            stored.eq(entry),
            stored.state.eq(zone_after.state),
            stored.pointer.eq(zone_after.pointer),
            stored.mapped.eq(
                (entry.mapped | kinds.is_append | kinds.restores_zone) & (zone_after.state != ZoneState.EMPTY)
            ),
            stored.unsure.eq(entry.unsure | kinds.finishes & command.unsure),
            stored.stream.eq(command.stream),
            stored.generation.eq(Array(self._generations.generation)[command.stream]),
        ]
        with m.If(kinds.is_append):
            m.d.comb += stored.job.eq(registers.jobs_sent + 1)
        with m.If(allocates_zone):
            m.d.comb += [
                stored.time.eq(self.time),
                stored.unsure.eq(0),
                stored.placement.zone.eq(self.next_zone.payload.zone),
                stored.placement.sequence.eq(restore.sequence),
                stored.placement.wear.eq(self.next_zone.payload.wear),
            ]
        with m.If(kinds.restores_zone):
            m.d.comb += [
                stored.placement.eq(restore.placement),
                stored.time.eq(command.time),
                stored.unsure.eq(command.unsure),
            ]
            with m.If(is_retired(command.restored_state)):
                m.d.comb += stored.generation.eq(command.generation)  # it outlives resets of its stream

    def _retire_zone(self, m: Module, registers: _Registers) -> None:
        """Store a zone whose program failed as read-only, with another command at the head.

        It may be offline already.
        """
        table, machine, retirement = self._table, self._state_machine, self._retirement
        in_use = registers.in_use[retirement.stream]
        with m.If(retirement.store):
            m.d.comb += [
                machine.command.operation.eq(Operation.RETIRE),
                machine.command.action.eq(ZoneState.READ_ONLY),
                machine.in_use.eq(in_use),
                table.write.eq(table.entry.state != ZoneState.OFFLINE),
                table.write_zone.eq(retirement.zone),
                table.write_entry.eq(table.entry),
                table.write_entry.state.eq(ZoneState.READ_ONLY),
            ]
            m.d.sync += in_use.eq(machine.in_use_after)

    def _return_pointer(self, m: Module) -> None:
        """Store a zone with the pointer behind what was written, with another command at the head."""
        table, settlement = self._table, self._settlement
        if settlement is None:
            return
        with m.If(settlement.store):
            m.d.comb += [
                table.write.eq(1),
                table.write_zone.eq(settlement.zone),
                table.write_entry.eq(table.entry),
                table.write_entry.pointer.eq(table.entry.pointer - settlement.slack),
            ]

    def _make_payloads(self, m: Module, registers: _Registers, settings) -> None:
        command, jobs = self.commands.payload, self._jobs
        m.d.comb += [
            self.answers.payload.port.eq(command.port),
            self.answers.payload.cid.eq(command.cid),
            self.answers.payload.status.eq(registers.status),
            jobs.command.eq(command),
            jobs.settings.eq(settings),
            jobs.place.eq(registers.place),
            jobs.free_tag.eq(self.tags.payload),
            jobs.tag.eq(registers.tag),
            self.open.payload.eq(jobs.opening),
            self.write.payload.eq(jobs.write),
            self.read.payload.eq(jobs.read),
            self.report.payload.eq(jobs.report),
        ]

    def _release(self, m: Module, zone: Value) -> None:
        m.d.sync += [self.release.valid.eq(1), self.release.payload.eq(zone)]

    def _select(self, m: Module, kinds: CommandKinds, registers: _Registers) -> None:
        """IDLE: a zone to retire first, then a step of the scan that is owed, then the next command."""
        command, table, reclaim = self.commands.payload, self._table, self._reclaim
        stalls = self._in_flight.waits
        if self._settlement:
            stalls |= self._settlement.waits
        startable = self.commands.valid & ~(stalls & (command.status == Status.SUCCESS))
        can_start = table.ready & ~self.release.valid & ~self._restore.busy
        nothing_left = self._in_flight.idle & ~reclaim.pending & ~self._retirement.pending
        if self._settlement:
            nothing_left &= ~self._settlement.pending
        m.d.comb += self.idle.eq(can_start & ~self.commands.valid & nothing_left)
        with m.If(self._retirement.pending):
            m.next = "RETIRE"
        if self._settlement:
            with m.Elif(self._settlement.pending):
                m.next = "SETTLE"
        with m.Elif(can_start):
            with m.If(reclaim.pending & (registers.reclaim_owed | ~startable)):
                m.d.comb += table.zone.eq(reclaim.zone)
                m.next = "RECLAIM"
            with m.Elif(startable):
                m.next = "DECIDE"
                with m.If(kinds.is_update):
                    m.d.comb += table.zone.eq(command.source_zone)
                    m.next = "SOURCE"

    def _reclaim_entry(self, m: Module, registers: _Registers) -> None:
        table, reclaim = self._table, self._reclaim
        m.d.comb += [
            reclaim.step.eq(1),
            table.write.eq(table.stale),
            table.write_zone.eq(reclaim.zone),
            table.write_entry.eq(table.entry),
        ]
        with m.If(table.reclaim):
            self._release(m, table.entry.placement.zone)
        m.d.sync += registers.reclaim_owed.eq(0)
        m.next = "IDLE"

    def _keep_source(self, m: Module, registers: _Registers, source) -> None:
        entry, source_zone, place = self._table.entry, registers.source_zone, registers.place
        m.d.comb += self._age.retention.eq(source.retention)
        m.d.sync += [
            source_zone.state.eq(entry.state),
            source_zone.pointer.eq(entry.pointer),
            source_zone.expired.eq(self._age.expired & source.refuses),
            place.source.eq(entry.placement),
            place.source_generation.eq(entry.generation),
        ]
        m.next = "DECIDE"

    def _decide(
        self, m: Module, kinds: CommandKinds, registers: _Registers, settings, source, allocates_zone
    ):
        """DECIDE: check the command, note its place, and change its zone and its stream."""
        command, entry, stored = self.commands.payload, self._table.entry, self._table.write_entry
        status, place, jobs_sent = registers.status, registers.place, registers.jobs_sent
        status_now = Mux(command.status == Status.SUCCESS, self._state_machine.status, command.status)
        m.d.sync += [
            registers.reclaim_owed.eq(1),
            status.eq(status_now),
            place.placement.eq(stored.placement),
            place.generation.eq(Mux(kinds.is_append, stored.generation, entry.generation)),
            place.offset.eq(Mux(kinds.is_append, entry.pointer, command.offset)),
            # Job numbers wrap, so an entry's number is used only if it is one of those not yet issued.
            place.after.eq(Mux(jobs_sent - entry.job < jobs_sent - self.issued, entry.job, self.issued)),
            self.zone_waits.eq(0),
            *([place.slack.eq(self._settlement.known)] if self._settlement else []),
            registers.loop_zone.eq(settings.first),
            registers.loop_left.eq(settings.zones),
            registers.compared_zone.eq(source.first),
        ]
        with m.If(kinds.is_of_no_zone):
            m.d.sync += [place.placement.eq(0), place.generation.eq(0), place.after.eq(self.issued)]
        with m.If(kinds.to_all_dies):
            m.d.sync += place.offset.eq(0)
        with m.If(status_now != Status.SUCCESS):
            m.next = "ANSWER"
            with m.If((status_now == Status.TOO_MANY_OPEN_ZONES) & ~kinds.loops):
                m.next = "ROOM_READ"
        with m.Elif(allocates_zone & ~self.next_zone.valid):
            m.d.sync += [self.zone_waits.eq(1), status.eq(Status.INTERNAL_ERROR)]
            m.next = "IDLE"
            with m.If(self.exhausted & ~self._reclaim.pending):
                m.d.sync += self.zone_waits.eq(0)
                m.next = "ANSWER"
        with m.Else():
            self._execute(m, kinds, registers, source, allocates_zone)

    def _execute(self, m: Module, kinds: CommandKinds, registers: _Registers, source, allocates_zone) -> None:
        """DECIDE, of a command that succeeds."""
        table, machine, change = self._table, self._state_machine, self._generations.change
        with m.If(kinds.changes_zone | kinds.resets_stream | kinds.loops):
            m.d.sync += registers.in_use[self.commands.payload.stream].eq(machine.in_use_after)
        if settlement := self._settlement:
            m.d.comb += settlement.reserves.eq(kinds.encodes)
        empties_zone = table.entry.mapped & (machine.zone_after.state == ZoneState.EMPTY)
        with m.If(kinds.changes_zone):
            m.d.comb += [table.write.eq(1), self.next_zone.ready.eq(allocates_zone)]
            with m.If(table.reclaim | empties_zone):
                self._release(m, table.entry.placement.zone)
        m.d.comb += [
            change.reset.eq(kinds.resets_stream),
            change.update.eq(kinds.is_update),
            change.pin.eq(kinds.pins),
            change.release.eq(kinds.releases),
            self._restore.execute.eq(kinds.is_restore),
            change.restore.eq(self._restore.sets_generation),
            change.restore_zone.eq(kinds.restores_zone),
        ]
        with m.If(kinds.loops):
            m.next = "LOOP_READ"
        with m.Elif(kinds.commits):
            m.d.comb += table.zone.eq(source.first)
            m.next = "COMPARE_SOURCE"
        with m.Elif(kinds.ends_here):
            m.next = "ANSWER"
        with m.Elif(kinds.is_report):
            m.next = "REPORT"
        with m.Else():
            m.next = "OPEN"

    def _send(self, m: Module, kinds: CommandKinds, registers: _Registers) -> None:
        with m.State("OPEN"):
            m.d.comb += [self.open.valid.eq(self.tags.valid), self.tags.ready.eq(self.open.ready)]
            m.d.sync += registers.tag.eq(self.tags.payload)
            with m.If(self.open.valid & self.open.ready):
                m.next = "SEND"

        with m.State("SEND"):
            with m.If(kinds.has_read_job):
                m.d.comb += [self.read.valid.eq(1), self.commands.ready.eq(self.read.ready)]
            with m.Else():
                m.d.comb += [self.write.valid.eq(1), self.commands.ready.eq(self.write.ready)]
                m.d.sync += registers.jobs_sent.eq(registers.jobs_sent + self.write.ready)
            with m.If(self.commands.ready):
                m.next = "IDLE"

        with m.State("ANSWER"):
            m.d.comb += [self.answers.valid.eq(1), self.commands.ready.eq(self.answers.ready)]
            with m.If(self.answers.ready):
                m.next = "IDLE"

    def _loop(self, m: Module, registers: _Registers) -> None:
        """An operation on all zones of a stream: read an entry, then change it if it is selected."""
        table, loop_zone, loop_left = self._table, registers.loop_zone, registers.loop_left
        with m.State("LOOP_READ"):
            m.d.comb += table.zone.eq(loop_zone)
            m.next = "LOOP_CHANGE"
            with m.If(loop_left == 0):
                m.next = "ANSWER"

        with m.State("LOOP_CHANGE"):
            m.d.comb += [table.write.eq(self._state_machine.selected), table.write_zone.eq(loop_zone)]
            m.d.sync += [loop_zone.eq(loop_zone + 1), loop_left.eq(loop_left - 1)]
            m.next = "LOOP_READ"

    def _make_room(self, m: Module, registers: _Registers) -> None:
        """Close the stream's first zone that is implicitly open, and check the command anew."""
        table, loop_zone, loop_left = self._table, registers.loop_zone, registers.loop_left
        in_use = registers.in_use[self.commands.payload.stream]
        with m.State("ROOM_READ"):
            m.d.comb += table.zone.eq(loop_zone)
            m.next = "ROOM"
            with m.If(loop_left == 0):
                m.next = "ANSWER"

        with m.State("ROOM"):
            m.d.comb += [
                table.write_zone.eq(loop_zone),
                table.write_entry.eq(table.entry),
                table.write_entry.state.eq(ZoneState.CLOSED),
            ]
            m.d.sync += [loop_zone.eq(loop_zone + 1), loop_left.eq(loop_left - 1)]
            m.next = "ROOM_READ"
            with m.If(table.entry.state == ZoneState.IMPLICITLY_OPEN):
                m.d.comb += table.write.eq(1)
                m.d.sync += in_use.open.eq(in_use.open - 1)
                m.next = "IDLE"

    def _commit(self, m: Module, registers: _Registers) -> None:
        """The zones of a commit in turn: the entry of the source's zone is valid, then the stream's own."""
        entry, loop_zone, loop_left = self._table.entry, registers.loop_zone, registers.loop_left
        compared_zone, required_pointer = registers.compared_zone, registers.required_pointer
        with m.State("COMPARE_SOURCE"):
            m.d.comb += self._table.zone.eq(loop_zone)
            m.d.sync += [
                required_pointer.eq(entry.pointer),
                compared_zone.eq(compared_zone + 1),
                loop_zone.eq(loop_zone + 1),
                loop_left.eq(loop_left - 1),
            ]
            m.next = "COMPARE"

        with m.State("COMPARE"):
            m.d.comb += self._table.zone.eq(compared_zone)
            m.next = "COMPARE_SOURCE"
            with m.If(entry.pointer < required_pointer):
                m.d.sync += registers.status.eq(Status.INVALID_FIELD)
                m.next = "ANSWER"
            with m.Elif(loop_left == 0):
                m.d.comb += self._generations.change.commit.eq(1)
                with m.If(self._generations.resets):
                    m.d.sync += registers.in_use[self.commands.payload.source].eq(0)
                m.next = "ANSWER"

    def _report(self, m: Module, registers: _Registers) -> None:
        with m.State("REPORT"):
            m.d.comb += self.report.valid.eq(1)
            with m.If(self.report.ready):
                m.next = "WAIT_FOR_REPORT"

        with m.State("WAIT_FOR_REPORT"):
            m.d.comb += [self._table.zone.eq(self.report_zone), self.report_done.ready.eq(1)]
            m.d.sync += registers.status.eq(self.report_done.payload)
            with m.If(self.report_done.valid):
                m.next = "ANSWER"
