"""What a command becomes: its entry in the tracker, and its job."""

from amaranth import Module, Mux, Signal
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
)
from flashtrain.rtl.zones.report import ReportRequest
from flashtrain.rtl.zones.table import GENERATION_BITS, Placement
from flashtrain.spec import FmsConfig


class JobPlace(data.StructLayout):
    """What the zone manager has found out about a command."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "placement": Placement(config),
            "generation": GENERATION_BITS,  # of the zone's content
            "source": Placement(config),  # of an update
            "source_generation": GENERATION_BITS,
            "offset": g.zone_size_bits,  # of the first block
            "after": SEQUENCE_BITS,  # number of the write job that a read has to see
        })  # fmt: skip


class Jobs(wiring.Component):
    """Payloads for the tracker, the pipelines and the report unit. Combinational.

    Members
    -------
    command : In(Command), settings : In(StreamTable)   the command, its stream
    place : In(JobPlace)
    free_tag : In(tag_bits)      for the opening
    tag : In(tag_bits)           that was opened, for the job
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
            "free_tag": In(config.tag_bits),
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
        m.d.comb += [
            opening.tag.eq(self.free_tag),
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
            m.d.comb += opening.result.eq(start | self.place.offset)

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
                write.page.eq(command.page),
                write.identity.eq(identity),
                write.wear.eq(place.placement.wear),
            ]
        with m.If(command.operation == Operation.UPDATE):
            m.d.comb += [
                write.kind.eq(PageKind.GRADIENTS),
                write.source.eq(place.source.zone),
                write.source_identity.stream.eq(command.source),
                write.source_identity.zone.eq(command.source_zone),
                write.source_identity.generation.eq(place.source_generation),
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
            read.page.eq(command.page),
            read.after.eq(place.after),
            read.inspect.eq(inspects),
            read.identity.eq(identity),
        ]

    def _report(self, m: Module) -> None:
        command, report = self.command, self.report
        m.d.comb += [
            report.zone.eq(command.zone),
            report.index.eq(command.index),
            report.zones.eq(self.settings.zones - command.index),
            report.descriptors.eq(command.descriptors),
            report.partial.eq(command.partial),
            report.address.eq(command.address),
        ]
