"""The zone manager: from checked commands to jobs."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
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
from flashtrain.rtl.zones.jobs import CommandKinds, JobPlace, Jobs, kinds_of
from flashtrain.rtl.zones.report import ReportRequest
from flashtrain.rtl.zones.restore import Restore, RestoredZone, spare_use_ports
from flashtrain.rtl.zones.settlement import Settlement
from flashtrain.rtl.zones.state_machine import ZonesInUse, ZoneStateMachine, is_active, is_open
from flashtrain.rtl.zones.table import (
    GENERATION_BITS,
    Lookup,
    Purpose,
    Reclaim,
    ZoneAge,
    ZoneEntry,
    ZoneTable,
    for_command,
    is_retired,
)
from flashtrain.spec import FmsConfig, Status, ZoneState
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS


class _Registers:
    """The registers that the manager's states share."""

    def __init__(self, config: FmsConfig):
        zone_bits = config.geometry.zone_bits
        self.kinds = Signal(CommandKinds())
        self.settings = Signal(StreamTable(config))  # of the command's stream
        self.source = Signal(StreamTable(config))
        self.stalls = Signal()
        self.checked = Signal(Lookup(config))  # the last one, with the state machine's outputs
        self.checked_same = Signal()  # a write in its cycle before would be to its zone
        self.jobs_behind = Signal(SEQUENCE_BITS)  # write jobs since the last one of that zone
        self.jobs_not_issued = Signal(SEQUENCE_BITS)
        self.issued = Signal(SEQUENCE_BITS)
        self.in_use_changes, self.in_use_after = Signal(), Signal(ZonesInUse(config))  # after DECIDE
        self.in_use = Array(Signal(ZonesInUse(config), name=f"in_use{n}") for n in range(MAX_STREAMS))
        self.in_use_now = Signal(ZonesInUse(config))  # of the command's stream
        self.jobs_sent = Signal(SEQUENCE_BITS)  # write jobs
        self.status = Signal(STATUS_BITS)  # from DECIDE on
        self.place = Signal(JobPlace(config))
        self.tag = Signal(config.tag_bits)  # for the next opening and its job
        self.has_tag = Signal()
        self.loop_zone = Signal(zone_bits)
        self.loop_left = Signal(zone_bits + 1)
        self.compared_zone = Signal(zone_bits)  # the source's, of a commit
        self.compares_own = Signal()  # the next zone of a commit is the stream's own
        self.required_pointer = Signal(config.geometry.zone_size_bits + 1)  # the source's write pointer
        self.visits = Signal()  # a lookup that no command has asked for is under way
        self.visited = Signal()  # likewise, a cycle later
        self.reclaim_owed = Signal()  # a command passed since the last step of the scan
        self.next_visit = Signal(data.StructLayout({"purpose": Purpose, "zone": zone_bits}))
        self.begins_visit = Signal()
        self.releases = Signal()  # in DECIDE: a zone is still being released
        self.comes_first = Signal()  # in IDLE: before the next command


class ZoneManager(wiring.Component):
    """Takes commands one at a time, in order, checks their stream and zone, and makes jobs of them.

    A command stays at the head of its stream until its job or its answer was accepted:

        IDLE     the lookup of its zone begins, or of an update the source's
        LOOKUP   a command that stalls returns to IDLE; of an update the lookup of its zone begins
        WAIT     the entry comes and passes through the state machine, in the cycle after through DECIDE
        DECIDE   whether the command succeeds; the entry is written
        REFUSE   the status of one that does not
        OPEN     the tracker takes the command, with a tag
        SEND     the job

    Lookups take `ZoneTable.LOOKUP_CYCLES`, and carry their purpose. So states can ask for one in each cycle.
    A command whose zone was written since its lookup began goes back to IDLE.

    A zone whose program failed becomes read-only (`Retirement`) before the next command is checked. So the
    completion of that append follows the zone's change, and no reset, pin or commit that waited for the
    append comes between. That takes 7 cycles, fewer beside a command that is sent or answered.

    Latency: 6 cycles from a command to its job, 7 for an update, 5 to its answer, 6 to that of a failure.

    Throughput:

        ======================================== ===================
        command                                  cycles
        ======================================== ===================
        with a job                               7
        update                                   8
        with an answer                           6
        that fails                               7
        that restores a zone                     7
        on all zones of a stream                 5 more, 1 per zone
        commit                                   6 more, 2 per zone
        ======================================== ===================

    A command that lacks only an open resource scans its stream's zones, 1 cycle each, for one that is
    implicitly open. That zone is closed, and the command is checked anew.

    A stream reset takes as long as any other command. A scan over the zones follows it (`Reclaim`), a step
    with each command, or in 6 cycles without a command.

    A command that depends on others in flight (`CommandsInFlight`) stalls those behind it. So does an append
    or update to an empty zone until an erased physical zone is available. If none is, and none is to be
    erased or reclaimed, it fails with INTERNAL_ERROR: physical zones were lost to failed erases.

    An append to a stream with a codec reserves its bound; a pointer returns by what was not written
    (`Settlement`) before the next command is checked, in 6 or 7 cycles.

    A retired zone keeps its physical zone, which so is never used again.

    During recovery only inspections and RESTORE commands are carried out (`Restore`); an inspection becomes
    a job of the physical zone that it names.

    Members
    -------
    streams : In(StreamTable).array(8)   settings; constant until the next reset
    commands : In(stream(Command))
    tags : In(stream)                    free tags; one is held for the next opening
    open : Out(stream(Opening))          accepted before the command's job is sent
    write : Out(stream(WriteJob))        always ready, as long as a command has its tag: there is room for
    read : Out(stream(ReadJob))          the job of each
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
    report_entry : Out(ZoneEntry)        its entry, 3 cycles later
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
            "write": Out(stream.Signature(WriteJob(config), always_ready=True)),
            "read": Out(stream.Signature(ReadJob(config), always_ready=True)),
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
        registers = _Registers(self.config)
        self._prepare(m, registers)
        self._connect_generations(m)
        self._connect_state_machine(m, registers)
        self._connect_units(m, registers)
        m.d.comb += self._table.zone.eq(command.zone)
        self._check(m, registers)
        self._update_entry(m, registers)
        self._choose_visit(m, registers)
        self._store_visited(m, registers)
        self._make_payloads(m, registers)
        frees = (registers.checked.purpose == Purpose.RECLAIM) & registers.checked.reclaim
        m.d.sync += registers.releases.eq(self.release.valid & ~self.release.ready | frees)
        with m.If(self.release.valid & self.release.ready):
            m.d.sync += self.release.valid.eq(0)
        # A zone is released when its entry has been checked.
        with m.If(~self.release.valid):
            m.d.sync += self.release.payload.eq(registers.checked.entry.placement.zone)
        # In the cycle after DECIDE: the command is still at the head.
        m.d.sync += registers.in_use_changes.eq(0)
        with m.If(registers.in_use_changes):
            m.d.sync += registers.in_use[command.stream].eq(registers.in_use_after)
        m.d.comb += self.tags.ready.eq(~registers.has_tag)
        with m.If(self.tags.valid & self.tags.ready):
            m.d.sync += [registers.tag.eq(self.tags.payload), registers.has_tag.eq(1)]

        with m.FSM(name="fsm"):
            with m.State("IDLE"):
                self._select(m, registers)
            with m.State("LOOKUP"):
                self._look_up(m, registers)
            with m.State("WAIT"):
                with m.If(table.found.purpose == Purpose.COMMAND):
                    m.next = "DECIDE"
            with m.State("DECIDE"):
                self._decide(m, registers)
            with m.State("REFUSE"):
                status = self._state_machine.status
                m.d.sync += registers.status.eq(status)
                m.next = "ANSWER"
                with m.If((status == Status.TOO_MANY_OPEN_ZONES) & ~registers.kinds.loops):
                    m.next = "ROOM"
            self._send(m, registers)
            self._loop(m, registers)
            self._make_room(m, registers)
            self._commit(m, registers)
            self._report(m, registers)
        return m

    def _prepare(self, m: Module, registers: _Registers) -> None:
        """Registers of what depends on the command alone: valid from LOOKUP on."""
        command = self.commands.payload
        stalls = self._in_flight.waits
        if settlement := self._settlement:
            settles = Signal()
            m.d.sync += settles.eq(settlement.waits & (command.status == Status.SUCCESS))
            stalls = stalls | settles
        m.d.comb += registers.stalls.eq(stalls)
        m.d.sync += [
            *(registers.kinds[name].eq(value) for name, value in kinds_of(self.config, command).items()),
            registers.settings.eq(Array(self.streams)[command.stream]),
            registers.source.eq(Array(self.streams)[command.source]),
            registers.in_use_now.eq(registers.in_use[command.stream]),
        ]

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

    def _connect_state_machine(self, m: Module, registers: _Registers) -> None:
        command, found, machine = self.commands.payload, self._table.found, self._state_machine
        refuses = Mux(machine.is_source, registers.source.refuses, registers.settings.refuses)
        m.d.comb += [
            machine.command.eq(command),
            machine.zone.state.eq(found.entry.state),
            machine.zone.pointer.eq(found.entry.pointer),
            machine.zone.unsure.eq(found.entry.unsure & found.entry.mapped),
            machine.zone.expired.eq(self._age.expired & refuses),
            machine.is_source.eq(found.purpose == Purpose.SOURCE),
            machine.stream.eq(self._generations.stream_condition),
            machine.source.eq(self._generations.source_condition),
            machine.in_use.eq(registers.in_use_now),
            machine.recovering.eq(self._restore.recovering),
        ]

    def _connect_units(self, m: Module, registers: _Registers) -> None:
        command, found = self.commands.payload, self._table.found
        in_flight, restore, age = self._in_flight, self._restore, self._age
        # Of an update the source's data must be young enough to be read, its own zone's are not read.
        retention = Mux(registers.kinds.is_update, registers.source.retention, registers.settings.retention)
        # A cycle late: the command is still at the head, and none is checked yet.
        m.d.sync += restore.allocated.eq(self.next_zone.valid & self.next_zone.ready)
        m.d.comb += [
            in_flight.command.eq(command),
            in_flight.opened.eq(self.open.valid & self.open.ready),
            in_flight.retired.eq(self.retired.valid & self.retired.ready),
            in_flight.retired_command.eq(self.retired.payload),
            restore.recover.eq(self.recover),
            restore.command.eq(command),
            self.recovering.eq(restore.recovering),
            self.sequence.eq(restore.sequence),
            age.time.eq(self.time),
            age.since.eq(self._table.since),
            age.retention.eq(retention),
            self.report_entry.eq(found.entry),
            self.report_due.eq(age.due),
            self.ready.eq(self._table.ready),
        ]

    def _check(self, m: Module, registers: _Registers) -> None:
        """Keep what a lookup has found, for the cycles in which the state machine's outputs hold for it."""
        found, checked = self._table.found, registers.checked
        m.d.sync += checked.purpose.eq(found.purpose)
        with m.If(self._table.cancel & for_command(found.purpose)):
            m.d.sync += checked.purpose.eq(Purpose.NONE)
        with m.If(found.purpose != Purpose.NONE):
            m.d.sync += [
                *(checked[name].eq(found[name]) for name in ("zone", "entry", "stale", "reclaim")),
                checked.overtaken.eq(found.overtaken),
                registers.checked_same.eq(self._table.is_written(found.zone)),
                registers.jobs_behind.eq(registers.jobs_sent - found.entry.job),
                registers.jobs_not_issued.eq(registers.jobs_sent - self.issued),
                registers.issued.eq(self.issued),
            ]
        with m.If(found.purpose == Purpose.SOURCE):
            m.d.sync += [
                registers.place.source.eq(found.entry.placement),
            ]

    def _update_entry(self, m: Module, registers: _Registers) -> None:
        """The entry to be stored when the command, or a step of its loop, changes the zone."""
        command, table, restore, kinds = (
            self.commands.payload, self._table, self._restore, registers.kinds,
        )  # fmt: skip
        entry, stored, zone_after = registers.checked.entry, table.write_entry, self._state_machine.zone_after
        m.d.comb += [
            table.write_zone.eq(registers.checked.zone),
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
        with m.If(self._allocates_zone(registers)):
            m.d.comb += [
                stored.time.eq(self.time),
                stored.unsure.eq(0),
                stored.placement.eq(self._allocated()),
            ]
        with m.If(kinds.restores_zone):
            m.d.comb += [
                stored.placement.eq(restore.placement),
                stored.time.eq(command.time),
                stored.unsure.eq(command.unsure),
            ]
            with m.If(is_retired(command.restored_state)):
                m.d.comb += stored.generation.eq(command.generation)  # it outlives resets of its stream

    def _allocated(self) -> Value:
        """The `Placement` in the next erased zone."""
        next_zone = self.next_zone.payload
        return Cat(next_zone.zone, self._restore.sequence, next_zone.wear)

    def _allocates_zone(self, registers: _Registers) -> Value:
        return registers.kinds.is_append & ~registers.checked.entry.mapped

    def _store_visited(self, m: Module, registers: _Registers) -> None:
        """Store the zones that no command has asked for, whatever command is at the head."""
        table, checked, reclaim, retirement = (
            self._table, registers.checked, self._reclaim, self._retirement,
        )  # fmt: skip
        entry, stored = checked.entry, table.write_entry
        with m.If(~for_command(checked.purpose)):
            m.d.comb += stored.eq(entry)
        with m.Switch(checked.purpose):
            with m.Case(Purpose.RETIRE):
                # It may be offline already.
                in_use = registers.in_use[retirement.stream]
                m.d.comb += [
                    retirement.stored.eq(1),
                    table.write.eq(entry.state != ZoneState.OFFLINE),
                    stored.state.eq(ZoneState.READ_ONLY),
                ]
                m.d.sync += [
                    in_use.open.eq(in_use.open - is_open(entry.state)),
                    in_use.active.eq(in_use.active - is_active(entry.state)),
                    registers.visits.eq(0),
                ]
            with m.Case(Purpose.RECLAIM):
                m.d.comb += [reclaim.step.eq(1), table.write.eq(checked.stale)]
                m.d.sync += registers.visits.eq(0)
                with m.If(checked.reclaim):
                    m.d.sync += self.release.valid.eq(1)
            if settlement := self._settlement:
                with m.Case(Purpose.SETTLE):
                    # The pointer stands behind what was written.
                    m.d.comb += [
                        settlement.stored.eq(1),
                        table.write.eq(1),
                        stored.pointer.eq(entry.pointer - settlement.slack),
                    ]
                    m.d.sync += registers.visits.eq(0)

    def _make_payloads(self, m: Module, registers: _Registers) -> None:
        command, jobs = self.commands.payload, self._jobs
        m.d.comb += [
            self.answers.payload.port.eq(command.port),
            self.answers.payload.cid.eq(command.cid),
            self.answers.payload.status.eq(registers.status),
            jobs.command.eq(command),
            jobs.settings.eq(registers.settings),
            jobs.place.eq(registers.place),
            jobs.tag.eq(registers.tag),
            self.open.payload.eq(jobs.opening),
            self.write.payload.eq(jobs.write),
            self.read.payload.eq(jobs.read),
            self.report.payload.eq(jobs.report),
        ]

    def _choose_visit(self, m: Module, registers: _Registers) -> None:
        """Choose a zone to retire first, or one whose pointer returns, or the next of the scan."""
        reclaim, retirement, visit = self._reclaim, self._retirement, registers.next_visit
        m.d.sync += [
            registers.visited.eq(registers.visits),
            visit.purpose.eq(Mux(reclaim.pending, Purpose.RECLAIM, Purpose.NONE)),
            visit.zone.eq(reclaim.zone),
        ]
        owed = registers.reclaim_owed & ~registers.begins_visit
        comes_first = reclaim.pending & (owed | ~self.commands.valid)
        if settlement := self._settlement:
            comes_first |= settlement.pending
            with m.If(settlement.pending):
                m.d.sync += [visit.purpose.eq(Purpose.SETTLE), visit.zone.eq(settlement.zone)]
        with m.If(retirement.pending):
            m.d.sync += [visit.purpose.eq(Purpose.RETIRE), visit.zone.eq(retirement.zone)]
        m.d.sync += registers.comes_first.eq(comes_first | retirement.pending)

    def _visit(self, m: Module, registers: _Registers) -> None:
        """Look up the chosen zone, unless such a lookup is under way."""
        table, visit = self._table, registers.next_visit
        begins = ~registers.visits & ~registers.visited & table.free & (visit.purpose != Purpose.NONE)
        waits = (visit.purpose == Purpose.RECLAIM) & self.release.valid
        # The zone is there in any case: without a purpose it does not matter.
        m.d.comb += table.zone.eq(visit.zone)
        with m.If(begins & ~waits):
            m.d.comb += [
                registers.begins_visit.eq(1),
                table.purpose.eq(visit.purpose),
                self._retirement.read.eq(visit.purpose == Purpose.RETIRE),
            ]
            m.d.sync += registers.visits.eq(1)
            with m.If(visit.purpose == Purpose.RECLAIM):
                m.d.sync += registers.reclaim_owed.eq(0)
            if settlement := self._settlement:
                m.d.comb += settlement.read.eq(visit.purpose == Purpose.SETTLE)

    def _select(self, m: Module, registers: _Registers) -> None:
        """IDLE: what is held, or a step of the scan that is owed, comes before the next command."""
        command, table, reclaim = self.commands.payload, self._table, self._reclaim
        held = self._retirement.busy
        if self._settlement:
            held |= self._settlement.busy
        rests = table.free & ~self.release.valid & ~self._restore.busy & ~held
        nothing_left = self._in_flight.idle & ~reclaim.pending & ~registers.visits
        m.d.comb += self.idle.eq(rests & ~self.commands.valid & nothing_left)
        with m.If(registers.comes_first):
            self._visit(m, registers)
        with m.Else():
            is_update = command.operation == Operation.UPDATE
            m.d.comb += table.zone.eq(command.first_zone)
            with m.If(rests & self.commands.valid & ~registers.stalls):
                m.d.comb += table.purpose.eq(Mux(is_update, Purpose.SOURCE, Purpose.COMMAND))
                m.next = "LOOKUP"

    def _look_up(self, m: Module, registers: _Registers) -> None:
        m.next = "WAIT"
        with m.If(registers.stalls):
            m.d.comb += self._table.cancel.eq(1)
            m.next = "IDLE"
        with m.Elif(registers.kinds.is_update):
            m.d.comb += self._table.purpose.eq(Purpose.COMMAND)

    def _decide(self, m: Module, registers: _Registers) -> None:
        """DECIDE: check the command, note its place, and change its zone and its stream."""
        command, checked = self.commands.payload, registers.checked
        generation = Array(self._generations.generation)[command.stream]
        kinds, settings, place, status = (
            registers.kinds,
            registers.settings,
            registers.place,
            registers.status,
        )
        machine = self._state_machine
        # Job numbers wrap, so an entry's number is used only if it is one of those not yet issued.
        waits_for_job = registers.jobs_behind < registers.jobs_not_issued
        allocates_zone = self._allocates_zone(registers)
        m.d.sync += [
            registers.reclaim_owed.eq(1),
            status.eq(Status.SUCCESS),
            place.placement.eq(Mux(allocates_zone, self._allocated(), checked.entry.placement)),
            place.generation.eq(Mux(kinds.is_append, generation, checked.entry.generation)),
            place.offset.eq(Mux(kinds.is_append, checked.entry.pointer, command.offset)),
            place.after.eq(Mux(waits_for_job, checked.entry.job, registers.issued)),
            self.zone_waits.eq(0),
            *([place.slack.eq(self._settlement.known)] if self._settlement else []),
            registers.loop_zone.eq(settings.first),
            registers.loop_left.eq(settings.zones),
            registers.compared_zone.eq(registers.source.first),
            registers.compares_own.eq(0),
        ]
        with m.If(kinds.is_of_no_zone):
            m.d.sync += [place.placement.eq(0), place.generation.eq(0), place.after.eq(registers.issued)]
        with m.If(kinds.to_all_dies):
            m.d.sync += place.offset.eq(0)
        overtaken = checked.overtaken | self._table.writing & registers.checked_same
        with m.If(overtaken | registers.releases):
            m.next = "IDLE"
        with m.Elif(machine.fails):
            m.next = "REFUSE"
        with m.Elif(allocates_zone & ~self.next_zone.valid):
            m.d.sync += [self.zone_waits.eq(1), status.eq(Status.INTERNAL_ERROR)]
            m.next = "IDLE"
            with m.If(self.exhausted & ~self._reclaim.pending):
                m.d.sync += self.zone_waits.eq(0)
                m.next = "ANSWER"
        with m.Else():
            self._execute(m, registers, allocates_zone)

    def _execute(self, m: Module, registers: _Registers, allocates_zone: Value) -> None:
        """DECIDE, of a command that succeeds."""
        table, machine, change = self._table, self._state_machine, self._generations.change
        kinds, checked = registers.kinds, registers.checked
        m.d.sync += [
            registers.in_use_changes.eq(kinds.changes_zone | kinds.resets_stream | kinds.loops),
            registers.in_use_after.eq(machine.in_use_after),
        ]
        if settlement := self._settlement:
            m.d.comb += settlement.reserves.eq(kinds.encodes)
        empties_zone = checked.entry.mapped & (machine.zone_after.state == ZoneState.EMPTY)
        with m.If(kinds.changes_zone):
            m.d.comb += [table.write.eq(1), self.next_zone.ready.eq(allocates_zone)]
            with m.If(checked.reclaim | empties_zone):
                m.d.sync += self.release.valid.eq(1)
        m.d.comb += [
            change.reset.eq(kinds.resets_stream),
            change.update.eq(kinds.is_update),
            change.pin.eq(kinds.pins),
            change.release.eq(kinds.releases),
            change.advance.eq(kinds.advances),
            self._restore.execute.eq(kinds.restores),
            change.restore.eq(self._restore.sets_generation),
            change.restore_zone.eq(kinds.restores_zone),
        ]
        with m.If(kinds.loops):
            m.next = "LOOP"
        with m.Elif(kinds.commits):
            m.next = "COMPARE"
        with m.Elif(kinds.ends_here):
            m.next = "ANSWER"
        with m.Elif(kinds.is_report):
            m.next = "REPORT"
        with m.Else():
            m.next = "OPEN"

    def _send(self, m: Module, registers: _Registers) -> None:
        with m.State("OPEN"):
            m.d.comb += self.open.valid.eq(registers.has_tag)
            self._visit(m, registers)
            with m.If(self.open.valid & self.open.ready):
                m.next = "SEND"

        with m.State("SEND"):
            is_read = registers.kinds.has_read_job
            m.d.comb += [
                self.read.valid.eq(is_read),
                self.write.valid.eq(~is_read),
                self.commands.ready.eq(1),
            ]
            m.d.sync += [
                registers.jobs_sent.eq(registers.jobs_sent + ~is_read),
                registers.has_tag.eq(0),
            ]
            self._visit(m, registers)
            m.next = "IDLE"

        with m.State("ANSWER"):
            m.d.comb += [self.answers.valid.eq(1), self.commands.ready.eq(self.answers.ready)]
            self._visit(m, registers)
            with m.If(self.answers.ready):
                m.next = "IDLE"

    def _next_of_loop(self, m: Module, registers: _Registers) -> None:
        """Look up the next zone of the command's stream, which is at the table's port."""
        m.d.comb += self._table.purpose.eq(Purpose.EACH)
        m.d.sync += [
            registers.loop_zone.eq(registers.loop_zone + 1),
            registers.loop_left.eq(registers.loop_left - 1),
        ]

    def _loop(self, m: Module, registers: _Registers) -> None:
        """An operation on all zones of a stream: each entry is changed if it is selected."""
        table, checked = self._table, registers.checked
        with m.State("LOOP"):
            m.d.comb += table.zone.eq(registers.loop_zone)
            with m.If(checked.purpose == Purpose.EACH):
                m.d.comb += table.write.eq(self._state_machine.selected)
            with m.If(registers.loop_left != 0):
                self._next_of_loop(m, registers)
            with m.Elif(~table.busy & (checked.purpose == Purpose.NONE)):
                m.next = "ANSWER"

    def _make_room(self, m: Module, registers: _Registers) -> None:
        """Close the stream's first zone that is implicitly open, and check the command anew."""
        table, checked = self._table, registers.checked
        in_use = registers.in_use[self.commands.payload.stream]
        with m.State("ROOM"):
            m.d.comb += [
                table.zone.eq(registers.loop_zone),
                table.write_entry.eq(checked.entry),
                table.write_entry.state.eq(ZoneState.CLOSED),
            ]
            with m.If(registers.loop_left != 0):
                self._next_of_loop(m, registers)
            with m.Elif(~table.busy & (checked.purpose == Purpose.NONE)):
                m.next = "ANSWER"
            found_open = checked.entry.state == ZoneState.IMPLICITLY_OPEN
            with m.If((checked.purpose == Purpose.EACH) & found_open):
                m.d.comb += [table.cancel.eq(1), table.purpose.eq(Purpose.NONE), table.write.eq(1)]
                m.d.sync += in_use.open.eq(registers.in_use_now.open - 1)
                m.next = "IDLE"

    def _commit(self, m: Module, registers: _Registers) -> None:
        """The zones of a commit in turn: the source's, then the stream's own."""
        table, checked = self._table, registers.checked
        with m.State("COMPARE"):
            m.d.comb += table.zone.eq(
                Mux(registers.compares_own, registers.loop_zone, registers.compared_zone)
            )
            with m.If((registers.loop_left != 0) & ~registers.compares_own):
                m.d.comb += table.purpose.eq(Purpose.SOURCE)
                m.d.sync += [
                    registers.compared_zone.eq(registers.compared_zone + 1),
                    registers.compares_own.eq(1),
                ]
            with m.Elif(registers.compares_own):
                self._next_of_loop(m, registers)
                m.d.sync += registers.compares_own.eq(0)
            with m.Elif(~table.busy & (checked.purpose == Purpose.NONE)):
                m.next = "COMMIT"
            with m.If(checked.purpose == Purpose.SOURCE):
                m.d.sync += registers.required_pointer.eq(checked.entry.pointer)
            with m.If(
                (checked.purpose == Purpose.EACH) & (checked.entry.pointer < registers.required_pointer)
            ):
                m.d.comb += [table.cancel.eq(1), table.purpose.eq(Purpose.NONE)]
                m.d.sync += registers.status.eq(Status.INVALID_FIELD)
                m.next = "ANSWER"

        with m.State("COMMIT"):
            m.d.comb += self._generations.change.commit.eq(1)
            with m.If(~self._generations.source_condition.pinned):
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
