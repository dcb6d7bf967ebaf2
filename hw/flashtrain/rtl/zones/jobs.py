"""Kinds of commands, and the payloads made of them: the tracker's opening, and the job."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import (
    SEQUENCE_BITS,
    Command,
    Opening,
    Operation,
    PageKind,
    ReadJob,
    StreamTable,
    WriteJob,
    ZoneIdentity,
    coded,
)
from flashtrain.rtl.zones.report import ReportRequest
from flashtrain.rtl.zones.table import GENERATION_BITS, Placement
from flashtrain.spec import FmsConfig, ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Codec


class CommandKinds(data.StructLayout):
    """The kinds that a `Command` belongs to."""

    def __init__(self):
        super().__init__(
            dict.fromkeys(
                (
                    "is_update", "is_append", "encodes", "is_report", "restores", "restores_zone",
                    "commits", "advances", "pins", "releases", "to_all_dies", "is_of_no_zone", "has_read_job",
                    "finishes", "resets_stream", "loops", "changes_zone", "ends_here",
                ),
                1,
            )
        )  # fmt: skip


def kinds_of(config: FmsConfig, command) -> dict[str, Value]:
    """The bits of `CommandKinds`, for a `Command`."""
    operation, action = command.operation, command.action
    is_update = operation == Operation.UPDATE
    is_append = (operation == Operation.APPEND) | (operation == Operation.WRITE) | is_update
    is_generation, is_restore = operation == Operation.GENERATION, operation == Operation.RESTORE
    restores_zone = is_restore & (action == RestoreAction.ZONE)
    to_all_dies = (operation == Operation.CONSTANTS) | (operation == Operation.STATISTICS)
    inspects = operation == Operation.INSPECT
    is_send = operation == Operation.SEND
    resets = is_send & (action == ZoneAction.RESET)
    resets_stream = (operation == Operation.RESET) | (resets & command.select_all)
    sends_one = is_send & ~command.select_all
    manages_zone = sends_one | (operation == Operation.RETIRE) | restores_zone
    # The length of an encoded append is not known.
    encodes = (operation == Operation.APPEND) & (command.codec != Codec.RAW) if config.codec else Const(0)
    return {
        "is_update": is_update,
        "is_append": is_append,
        "encodes": encodes,
        "is_report": operation == Operation.RECEIVE,
        "restores": is_restore,
        "restores_zone": restores_zone,
        "commits": is_generation & (action == GenerationAction.COMMIT),
        "advances": is_generation & (action == GenerationAction.ADVANCE),
        "pins": is_generation & (action == GenerationAction.PIN),
        "releases": is_generation & (action == GenerationAction.RELEASE),
        "to_all_dies": to_all_dies,
        "is_of_no_zone": to_all_dies | inspects,  # but has a job with blocks
        "has_read_job": (operation == Operation.READ) | (operation == Operation.STATISTICS) | inspects,
        "finishes": is_send & (action == ZoneAction.FINISH),
        "resets_stream": resets_stream,
        "loops": is_send & command.select_all & ~resets,  # over the zones of the stream
        "changes_zone": is_append | manages_zone,
        # Answered when its zone or stream is changed.
        "ends_here": manages_zone | resets_stream | is_generation | is_restore,
    }


class JobPlace(data.StructLayout):
    """The zone manager's findings about a command: zones, offset, and the write job that a read follows."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "placement": Placement(config),
            "generation": GENERATION_BITS,  # of the zone's content
            "source": Placement(config),  # of an update
            "offset": g.zone_size_bits,  # of the first block
            **coded(config, {"slack": g.zone_size_bits + 1}),  # that `offset` has
            "after": SEQUENCE_BITS,  # number of the write job that a read follows
        })  # fmt: skip


class Jobs(wiring.Component):
    """Payloads for the tracker, the pipelines and the report unit. Combinational.

    Members
    -------
    command : In(Command), settings : In(StreamTable)   the command, its stream
    place : In(JobPlace)
    tag : In(tag_bits)           for opening and job
    opening : Out(Opening)
    write : Out(WriteJob)        of appends, writes, flushes, updates and constants
    read : Out(ReadJob)          of reads, statistics and inspections
    report : Out(ReportRequest)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "command": In(Command(config)),
            "settings": In(StreamTable(config)),
            "place": In(JobPlace(config)),
            "tag": In(config.tag_bits),
            "opening": Out(Opening(config)),
            "write": Out(WriteJob(config)),
            "read": Out(ReadJob(config)),
            "report": Out(ReportRequest(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        identity = Signal(ZoneIdentity())
        m.d.comb += [
            identity.stream.eq(self.command.stream),
            identity.zone.eq(self.command.zone),
            identity.generation.eq(self.place.generation),
            identity.sequence.eq(self.place.placement.sequence),
        ]
        self._open(m)
        self._write(m, identity)
        self._read(m, identity)
        self._report(m)
        return m

    def _open(self, m: Module) -> None:
        command, opening = self.command, self.opening
        operation = command.operation
        is_update = operation == Operation.UPDATE
        is_append = (operation == Operation.APPEND) | (operation == Operation.WRITE)
        programs_count = (operation == Operation.CONSTANTS) | (is_append & self.settings.non_volatile)
        events = Mux(is_update, command.events, command.blocks << programs_count)
        offset = self.place.offset
        if self.config.codec:
            # Its end is one event, and its programs are at most as many as its bound.
            encodes = is_append & (command.codec != Codec.RAW)
            events = Mux(encodes, Mux(self.settings.non_volatile, command.bound, 0) + 1, events)
            offset = Mux(encodes, 0, offset)  # comes with its end
        m.d.comb += [
            opening.tag.eq(self.tag),
            opening.port.eq(command.port),
            opening.cid.eq(command.cid),
            opening.stream.eq(command.stream),
            opening.source.eq(command.source),
            opening.zone.eq(command.zone),
            opening.operation.eq(operation),
            opening.count.eq(Mux(operation == Operation.FLUSH, 1, events)),
        ]
        with m.If((operation == Operation.APPEND) | is_update):
            start = command.index << self.config.geometry.zone_size_bits
            m.d.comb += opening.result.eq(start | offset)

    def _write(self, m: Module, identity) -> None:
        command, place, write = self.command, self.place, self.write
        m.d.comb += [
            write.tag.eq(self.tag),
            write.stream.eq(command.stream),
            write.non_volatile.eq(self.settings.non_volatile),
            write.last_page.eq(self.config.geometry.planes - 1),
        ]
        with m.If(command.operation == Operation.FLUSH):
            m.d.comb += write.flush.eq(1)
        with m.Else():
            m.d.comb += [
                write.zone.eq(place.placement.zone),
                write.offset.eq(place.offset),
                write.blocks.eq(command.blocks),
                write.buffer_block.eq(command.buffer_block),
                write.identity.eq(identity),
                write.wear.eq(place.placement.wear),
            ]
            if self.config.codec:
                m.d.comb += [
                    write.codec.eq(Mux(command.operation == Operation.APPEND, command.codec, Codec.RAW)),
                    write.bound.eq(command.bound),
                    write.slack.eq(place.slack),
                ]
        with m.If(command.operation == Operation.UPDATE):
            m.d.comb += [
                write.kind.eq(PageKind.GRADIENTS),
                write.source.eq(place.source.zone),
                write.source_identity.stream.eq(command.source),
                write.source_identity.zone.eq(command.first_zone),
                write.source_identity.page.eq(command.source_page),
                write.source_identity.sequence.eq(place.source.sequence),
                write.last_page.eq(command.last_page),
                write.copies.eq(command.copies),
            ]
        with m.If(command.operation == Operation.CONSTANTS):
            m.d.comb += [write.kind.eq(PageKind.CONSTANTS), write.last_page.eq(0)]

    def _read(self, m: Module, identity) -> None:
        command, place, read = self.command, self.place, self.read
        inspects = command.operation == Operation.INSPECT
        m.d.comb += [
            read.tag.eq(self.tag),
            read.statistics.eq(command.operation == Operation.STATISTICS),
            read.zone.eq(Mux(inspects, command.physical, place.placement.zone)),
            read.offset.eq(place.offset),
            read.blocks.eq(command.blocks),
            read.buffer_block.eq(command.buffer_block),
            read.after.eq(place.after),
            read.inspect.eq(inspects),
            read.identity.eq(identity),
        ]
        if self.config.codec:
            m.d.comb += [
                read.codec.eq(Mux(command.operation == Operation.READ, command.codec, Codec.RAW)),
                read.expanded.eq(command.expanded),
            ]
        if self.config.part_bytes:
            with m.If(command.operation == Operation.READ):
                m.d.comb += read.part.eq(command.part)

    def _report(self, m: Module) -> None:
        command, report = self.command, self.report
        m.d.comb += [
            report.zone.eq(command.zone),
            report.index.eq(command.index),
            report.zones.eq(self.settings.zones - command.index),
            report.descriptors.eq(command.descriptors),
            report.filter.eq(command.report_filter),
            report.partial.eq(command.partial),
            report.address.eq(command.address),
        ]
