"""The zone manager: from checked commands to jobs."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.forward import forward
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
    StreamTable,
    WriteJob,
)
from flashtrain.rtl.zones.age import ZoneAge
from flashtrain.rtl.zones.allocator import ErasedZone
from flashtrain.rtl.zones.conditions import ZoneCondition, ZoneConditions, ZonesInUse
from flashtrain.rtl.zones.fault_retirer import FaultRetirer
from flashtrain.rtl.zones.generations import Generations
from flashtrain.rtl.zones.in_flight import InFlight
from flashtrain.rtl.zones.jobs import JobPlace, Jobs
from flashtrain.rtl.zones.kinds import CommandKind
from flashtrain.rtl.zones.report import ReportRequest
from flashtrain.rtl.zones.restore import Restore, RestoredZone, spare_use_ports
from flashtrain.rtl.zones.stale_walk import StaleWalk
from flashtrain.rtl.zones.table import GENERATION_BITS, ZoneEntry, ZoneTable
from flashtrain.spec import FmsConfig, Status, ZoneState
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.registers import MAX_STREAMS


class ZoneManager(wiring.Component):
    """Takes commands one at a time, in order, checks their stream and zone, and makes jobs of them.

    A command stays at the head of its stream until its job or its answer was accepted:

        LOOK     the zone's entry is read, or of an update the source's
        SOURCE   only an update: the source's entry is there, and the zone's is read
        DECIDE   the entry is there: the verdict, and what becomes of the zone
        OPEN     the tracker takes the command, with a tag; the entry is written
        SEND     the job

    A zone whose append could not be programmed becomes read-only (`FaultRetirer`), before the next command is
    looked at: so a completion that tells of it comes with the zone as it will be found, and no reset, pin or
    commit that has waited for the append comes between. That takes 2 clocks, or none beside a command that
    waits for the tracker.

    Latency: 3 clocks from a command to its job, 4 for an update, 2 to its answer. Throughput: a command with
    a job every 4 clocks, an update every 5, a command with an answer every 3, or 4 if it restores a zone. An
    operation on all zones of a stream takes 2 clocks per zone, and so does a commit, which compares them; but
    resets take as long as any other command. A stream reset is followed by a walk over the zones, two clocks
    each, in the clocks without a command or one step after each.

    A command that has to wait for others in flight (see `InFlight`) keeps those behind it waiting, and so
    does an append or update to an empty zone until an erased physical zone is there. If there is none, and
    none to be erased or reclaimed, it fails with INTERNAL_ERROR: physical zones were lost to failed erases.

    A retired zone keeps its physical zone, which is so never used again.

    While the controller recovers, only inspections and RESTORE commands are carried out (see `Restore`); an
    inspection becomes a job of the physical zone that it names.

    Members
    -------
    streams : In(StreamTable).array(8)   settings; they stay as they are until the next reset
    commands : In(stream(Command))
    tags : In(stream)                    free tags
    open : Out(stream(Opening))          accepted before the command's job is sent
    write : Out(stream(WriteJob))
    read : Out(stream(ReadJob))
    answers : Out(stream(Answer))        commands that end here
    retired : In(stream(Retired))        commands that the tracker has finished, see `FaultRetirer`
    issued : In(32)                      write jobs, flushes included, whose pages have all been announced
    generation : Out(16).array(8)        how often each stream was reset
    next_zone : In(stream(ErasedZone))   erased physical zones
    release : Out(stream)                physical zones that are no longer needed
    exhausted : In(1)                    there will be no `next_zone` until one is released
    time : In(32)                        seconds
    recover : In(1), recovering : Out(1), sequence : Out(32)   see `Restore`
    restored : Out(stream(RestoredZone))
    spare_use, spare_channel : Out   see `Restore`
    report : Out(stream(ReportRequest))  one at a time
    report_done : In(stream)             its status
    report_zone : In                     a logical zone, for the report
    report_entry : Out(ZoneEntry)        its entry, a clock later
    report_due : Out(1)                  its data are old
    zone_waits : Out(1)                  a command waits for an erased zone
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
            "answers": Out(stream.Signature(Answer())),
            "retired": In(stream.Signature(Retired(config))),
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

    def elaborate(self, platform):
        m = Module()
        command = self.commands.payload
        m.submodules.table = table = ZoneTable(self.config)
        m.submodules.conditions = conditions = ZoneConditions(self.config)
        m.submodules.in_flight = in_flight = InFlight(self.config)
        m.submodules.jobs = jobs = Jobs(self.config)
        m.submodules.walk = walk = StaleWalk(self.config)
        m.submodules.age = age = ZoneAge()
        m.submodules.restore = restore = Restore(self.config)
        m.submodules.faulty = faulty = FaultRetirer(self.config)
        connect(m, faulty.retired, flipped(self.retired))
        connect(m, restore.physical, flipped(self.restored))
        forward(m, restore, self, spare_use_ports(self.config))
        entry = table.entry
        m.submodules.generations = generations = Generations(self.config)
        in_use = Array(Signal(ZonesInUse(self.config), name=f"in_use{n}") for n in range(MAX_STREAMS))
        settings = Signal(StreamTable(self.config))
        source = Signal(StreamTable(self.config))
        source_zone = Signal(ZoneCondition(self.config))  # of an update, from SOURCE on
        sent = Signal(SEQUENCE_BITS)  # write jobs

        kind = CommandKind(command)
        takes_zone = kind.is_append & ~entry.mapped
        frees_zone = table.reclaim | (entry.mapped & (conditions.zone_after.state == ZoneState.EMPTY))
        status_now = Mux(command.status == Status.SUCCESS, conditions.status, command.status)

        m.d.comb += [
            settings.eq(Array(self.streams)[command.stream]),
            source.eq(Array(self.streams)[command.source]),
            generations.stream.eq(command.stream),
            generations.source.eq(command.source),
            Cat(self.generation).eq(Cat(generations.generation)),
            Cat(table.generations).eq(Cat(generations.generation)),
            generations.restored.eq(command.generation),
            walk.start.eq(generations.resets),
            conditions.command.eq(command),
            conditions.zone.state.eq(entry.state),
            conditions.zone.pointer.eq(entry.pointer),
            conditions.zone.expired.eq(age.expired & settings.refuses),
            conditions.source_zone.eq(source_zone),
            conditions.stream.eq(generations.stream_condition),
            conditions.source.eq(generations.source_condition),
            conditions.in_use.eq(in_use[command.stream]),
            conditions.recovering.eq(restore.recovering),
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
            self.ready.eq(table.ready),
        ]

        # What is stored when the command, or a step of its loop, changes the zone.
        stored = table.write_entry
        m.d.comb += [
            table.zone.eq(command.zone),
            table.write_zone.eq(command.zone),
            stored.eq(entry),
            stored.state.eq(conditions.zone_after.state),
            stored.pointer.eq(conditions.zone_after.pointer),
            stored.mapped.eq(
                (entry.mapped | kind.is_append | kind.restores_zone)
                & (conditions.zone_after.state != ZoneState.EMPTY)
            ),
            stored.stream.eq(command.stream),
            stored.generation.eq(Array(generations.generation)[command.stream]),
        ]
        with m.If(kind.is_append):
            m.d.comb += stored.job.eq(sent + 1)
        with m.If(takes_zone):
            m.d.comb += [
                stored.time.eq(self.time),
                stored.placement.zone.eq(self.next_zone.payload.zone),
                stored.placement.sequence.eq(restore.sequence),
                stored.placement.wear.eq(self.next_zone.payload.wear),
            ]
        with m.If(kind.restores_zone):
            m.d.comb += [stored.placement.eq(restore.placement), stored.time.eq(command.time)]

        # A faulty zone, with another command at the head. It may be retired already.
        with m.If(faulty.stores):
            m.d.comb += [
                conditions.command.operation.eq(Operation.RETIRE),
                conditions.command.action.eq(ZoneState.READ_ONLY),
                conditions.in_use.eq(in_use[faulty.stream]),
                table.write.eq(entry.state != ZoneState.OFFLINE),
                table.write_zone.eq(faulty.zone),
                stored.eq(entry),
                stored.state.eq(ZoneState.READ_ONLY),
            ]
            m.d.sync += in_use[faulty.stream].eq(conditions.in_use_after)

        # The verdict on the command at the head, for the states after DECIDE.
        status = Signal(STATUS_BITS)
        place = Signal(JobPlace(self.config))
        tag = Signal(self.config.tag_bits)
        m.d.comb += [
            self.answers.payload.port.eq(command.port),
            self.answers.payload.cid.eq(command.cid),
            self.answers.payload.status.eq(status),
            jobs.command.eq(command),
            jobs.settings.eq(settings),
            jobs.place.eq(place),
            jobs.free_tag.eq(self.tags.payload),
            jobs.tag.eq(tag),
            self.open.payload.eq(jobs.opening),
            self.write.payload.eq(jobs.write),
            self.read.payload.eq(jobs.read),
            self.report.payload.eq(jobs.report),
        ]

        loop_zone = Signal.like(command.zone)
        loop_left = Signal.like(settings.zones)
        compared_zone = Signal.like(command.zone)  # the source's, of a commit
        least = Signal.like(entry.pointer)  # how far the zone is to be written at least
        step_owed = Signal()  # of the walk, since the last step
        with m.If(self.release.valid & self.release.ready):
            m.d.sync += self.release.valid.eq(0)

        def release(zone):
            return [self.release.valid.eq(1), self.release.payload.eq(zone)]

        with m.FSM(name="fsm") as fsm:
            with m.State("LOOK"):
                waits = in_flight.waits & (command.status == Status.SUCCESS)
                workable = self.commands.valid & ~waits
                can_start = table.ready & ~self.release.valid & ~restore.busy
                nothing_left = in_flight.idle & ~walk.pending & ~faulty.waits
                m.d.comb += self.idle.eq(can_start & ~self.commands.valid & nothing_left)
                with m.If(faulty.waits):
                    m.next = "RETIRE"
                with m.Elif(can_start):
                    with m.If(walk.pending & (step_owed | ~workable)):
                        m.d.comb += table.zone.eq(walk.zone)
                        m.next = "WALK"
                    with m.Elif(workable):
                        m.next = "DECIDE"
                        with m.If(kind.is_update):
                            m.d.comb += table.zone.eq(command.source_zone)
                            m.next = "SOURCE"

            with m.State("RETIRE"):
                m.next = "LOOK"  # `faulty.stores`

            with m.State("WALK"):
                m.d.comb += [
                    walk.step.eq(1),
                    table.write.eq(table.stale),
                    table.write_zone.eq(walk.zone),
                    stored.eq(entry),
                ]
                with m.If(table.reclaim):
                    m.d.sync += release(entry.placement.zone)
                m.d.sync += step_owed.eq(0)
                m.next = "LOOK"

            with m.State("SOURCE"):
                m.d.comb += age.retention.eq(source.retention)
                m.d.sync += [
                    source_zone.state.eq(entry.state),
                    source_zone.pointer.eq(entry.pointer),
                    source_zone.expired.eq(age.expired & source.refuses),
                    place.source.eq(entry.placement),
                    place.source_generation.eq(entry.generation),
                ]
                m.next = "DECIDE"

            with m.State("DECIDE"):
                m.d.sync += [
                    step_owed.eq(1),
                    status.eq(status_now),
                    place.placement.eq(stored.placement),
                    place.generation.eq(Mux(kind.is_append, stored.generation, entry.generation)),
                    place.offset.eq(Mux(kind.is_append, entry.pointer, command.offset)),
                    # A job number is only compared with recent ones: it may have come round since.
                    place.after.eq(Mux(sent - entry.job < sent - self.issued, entry.job, self.issued)),
                    self.zone_waits.eq(0),
                    loop_zone.eq(settings.first),
                    loop_left.eq(settings.zones),
                    compared_zone.eq(source.first),
                ]
                with m.If(kind.is_of_no_zone):
                    m.d.sync += [place.placement.eq(0), place.generation.eq(0), place.after.eq(self.issued)]
                with m.If(kind.to_all_dies):
                    m.d.sync += place.offset.eq(0)
                with m.If(status_now != Status.SUCCESS):
                    m.next = "ANSWER"
                with m.Elif(takes_zone & ~self.next_zone.valid):
                    m.d.sync += [self.zone_waits.eq(1), status.eq(Status.INTERNAL_ERROR)]
                    m.next = "LOOK"
                    with m.If(self.exhausted & ~walk.pending):
                        m.d.sync += self.zone_waits.eq(0)
                        m.next = "ANSWER"
                with m.Else():
                    with m.If(kind.changes_zone | kind.resets_stream | kind.loops):
                        m.d.sync += in_use[command.stream].eq(conditions.in_use_after)
                    with m.If(kind.changes_zone):
                        m.d.comb += [table.write.eq(1), self.next_zone.ready.eq(takes_zone)]
                        with m.If(frees_zone):
                            m.d.sync += release(entry.placement.zone)
                    m.d.comb += [
                        generations.change.reset.eq(kind.resets_stream),
                        generations.change.update.eq(kind.is_update),
                        generations.change.pin.eq(kind.pins),
                        generations.change.release.eq(kind.releases),
                        restore.execute.eq(kind.is_restore),
                        generations.change.restore.eq(restore.sets_generation),
                        generations.change.restore_zone.eq(kind.restores_zone),
                    ]
                    with m.If(kind.loops):
                        m.next = "LOOP_LOOK"
                    with m.Elif(kind.commits):
                        m.d.comb += table.zone.eq(source.first)
                        m.next = "COMPARE_SOURCE"
                    with m.Elif(kind.ends_here):
                        m.next = "ANSWER"
                    with m.Elif(kind.is_report):
                        m.next = "REPORT"
                    with m.Else():
                        m.next = "OPEN"

            with m.State("OPEN"):
                m.d.comb += [self.open.valid.eq(self.tags.valid), self.tags.ready.eq(self.open.ready)]
                m.d.sync += tag.eq(self.tags.payload)
                with m.If(self.open.valid & self.open.ready):
                    m.next = "SEND"

            with m.State("SEND"):
                with m.If(kind.has_read_job):
                    m.d.comb += [self.read.valid.eq(1), self.commands.ready.eq(self.read.ready)]
                with m.Else():
                    m.d.comb += [self.write.valid.eq(1), self.commands.ready.eq(self.write.ready)]
                    m.d.sync += sent.eq(sent + self.write.ready)
                with m.If(self.commands.ready):
                    m.next = "LOOK"

            with m.State("ANSWER"):
                m.d.comb += [self.answers.valid.eq(1), self.commands.ready.eq(self.answers.ready)]
                with m.If(self.answers.ready):
                    m.next = "LOOK"

            with m.State("LOOP_LOOK"):
                m.d.comb += table.zone.eq(loop_zone)
                m.next = "LOOP_CHANGE"
                with m.If(loop_left == 0):
                    m.next = "ANSWER"

            with m.State("LOOP_CHANGE"):
                m.d.comb += [table.write.eq(conditions.selected), table.write_zone.eq(loop_zone)]
                m.d.sync += [loop_zone.eq(loop_zone + 1), loop_left.eq(loop_left - 1)]
                m.next = "LOOP_LOOK"

            # The zones of a commit in turn: the entry of the source's zone is there, then the stream's own.
            with m.State("COMPARE_SOURCE"):
                m.d.comb += table.zone.eq(loop_zone)
                m.d.sync += [
                    least.eq(entry.pointer),
                    compared_zone.eq(compared_zone + 1),
                    loop_zone.eq(loop_zone + 1),
                    loop_left.eq(loop_left - 1),
                ]
                m.next = "COMPARE"

            with m.State("COMPARE"):
                m.d.comb += table.zone.eq(compared_zone)
                m.next = "COMPARE_SOURCE"
                with m.If(entry.pointer < least):
                    m.d.sync += status.eq(Status.INVALID_FIELD)
                    m.next = "ANSWER"
                with m.Elif(loop_left == 0):
                    m.d.comb += generations.change.commit.eq(1)
                    with m.If(generations.resets):
                        m.d.sync += in_use[command.source].eq(0)
                    m.next = "ANSWER"

            with m.State("REPORT"):
                m.d.comb += self.report.valid.eq(1)
                with m.If(self.report.ready):
                    m.next = "REPORTING"

            with m.State("REPORTING"):
                m.d.comb += [table.zone.eq(self.report_zone), self.report_done.ready.eq(1)]
                m.d.sync += status.eq(self.report_done.payload)
                with m.If(self.report_done.valid):
                    m.next = "ANSWER"

        # Nothing else uses the table in OPEN and SEND.
        m.d.comb += faulty.looks.eq(faulty.waits & (fsm.ongoing("LOOK") | fsm.ongoing("OPEN")))
        with m.If(faulty.looks):
            m.d.comb += table.zone.eq(faulty.zone)
        return m
