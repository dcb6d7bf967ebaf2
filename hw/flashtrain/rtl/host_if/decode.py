"""The decoder: submission entries to commands, with the checks that need no zone."""

from functools import reduce
from operator import or_

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import (
    CODEC_BITS,
    OPERATION_OF,
    STREAM_BITS,
    Command,
    Entry,
    Operation,
    StreamTable,
    coded,
)
from flashtrain.spec import Access, FmsConfig, Port, Status, Submission, ZoneAction, ZoneState
from flashtrain.spec.codec import bound_shift
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import RESTORED_STATES, RestoreAction
from flashtrain.spec.nvme import (
    UPDATE_OPCODES,
    BitField,
    GenerationAction,
    ReportFilter,
    ReportHeader,
    ZoneDescriptor,
    ZoneReport,
)
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec

MEMORY_BITS = 48  # of the tensor buffer's size
REPORT_GRANULARITY_BITS = 3


def one_of(value, *expected):
    """Whether `value` equals any of `expected`."""
    return reduce(or_, (value == one for one in expected))


class Parsed(data.StructLayout):
    """An entry's fields, and a cycle later what follows from them and from the streams' tables."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "error": 1,
            "port": 1,
            "operation": Operation,
            "fuse": 2,
            "psdt": 2,
            "cid": 16,
            "nsid": 32,
            "source_nsid": 32,
            "address": 64,
            "length": 32,
            "sgl_type": 8,
            "first_block": 64,
            "restores": 1,  # of any entry with the opcode
            "blocks": 17,
            "report_bytes": 35,
            "action": 8,
            "select_all": 1,
            "report_options": 8,
            "partial": 1,
            # Of an update:
            "pages": 8,
            "copies": 8,
            "tile_events": g.plane_bits + 2,  # the copies' returns and the program
            "rows": 16,
            "source_page": Submission.source_page.width,
            # Of a restore:
            "physical": 16,
            "restored_state": 4,
            "unsure": 1,
            "wear": Submission.wear.width,
            "sequence": Submission.sequence.width,
            "generation": Submission.generation.width,
            "time": Submission.time.width,
            **coded(config, {"expanded": 17, "exact": 1}),
            **({"first_part": Submission.first_part.width, "parts": Submission.parts.width}
               if config.part_bytes else {}),
            # A cycle later:
            "has_blocks": 1,
            "is_report": 1,
            "has_data": 1,  # of one of the two kinds
            "one_zone": 1,
            "has_source": 1,
            "known": 1,  # NSID is in range
            "stream": STREAM_BITS,
            "table": StreamTable(config),
            "access": 2,  # what the port may do
            "source_known": 1,
            "source": STREAM_BITS,
            "source_table": StreamTable(config),
            "source_access": 2,
            "end": max(config.address_bits, 32) + 1,  # first byte past the data; of the low address bits
            "slba": 64,  # of a restore the block before it
            "room": 29,  # descriptors after a report's header
            # Of an update; products are right if its fields are. No logic stands in front of the multipliers.
            "update_blocks": 16 + g.plane_bits + 1 + g.channel_bits,
            "other_events": 16 + g.plane_bits + 2 + g.channel_bits,  # but for the arrivals of its blocks
            **coded(config, {"bound": 18, "codec": CODEC_BITS}),
            **({"of_parts": 1, "parts_end": Submission.parts.width + 1} if config.part_bytes else {}),
        })  # fmt: skip


class Decoder(wiring.Component):
    """Makes checks 1 to 7 of `flashtrain.spec.nvme`, in that order; the first that fails gives the status.

    Before them, an entry that could not be fetched has status DATA_TRANSFER_ERROR. A command with a status
    keeps its operation, but for unknown opcodes and entries not fetched, which are INVALID.

    Latency: 4 cycles. Throughput: one command in 4 cycles.

    Members
    -------
    entries : In(stream(Entry))
    streams : In(StreamTable).array(MAX_STREAMS)
    memory_bytes : In(48)           size of the tensor buffer
    commands : Out(stream(Command))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "entries": In(stream.Signature(Entry())),
            "streams": In(StreamTable(config)).array(MAX_STREAMS),
            "memory_bytes": In(MEMORY_BITS),
            "commands": Out(stream.Signature(Command(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        parsed = Signal(Parsed(self.config))
        parsed_valid, derived, checked = Signal(), Signal(), Signal()
        command = Signal(Command(self.config))
        self._derive(m, parsed)
        self._check(m, parsed, command)

        # An entry stays parsed for three cycles. What follows from it is there after the first one, and the
        # results of its checks after the second.
        m.d.comb += self.entries.ready.eq(~parsed_valid)
        m.d.sync += [derived.eq(parsed_valid), checked.eq(derived)]
        with m.If(self.entries.ready):
            m.d.sync += [*self._parse(self.entries.payload, parsed), parsed_valid.eq(self.entries.valid)]
        with m.If(self.commands.ready):
            m.d.sync += self.commands.valid.eq(0)
        with m.If(checked & (~self.commands.valid | self.commands.ready)):
            m.d.sync += [
                self.commands.payload.eq(command),
                self.commands.valid.eq(1),
                parsed_valid.eq(0),
                derived.eq(0),
                checked.eq(0),
            ]
        return m

    def _parse(self, entry, parsed) -> list:
        """Statements that take the fields of an entry."""

        def field(which: BitField):
            return entry.bytes[which.low : which.low + which.width]

        opcode = field(Submission.opcode)
        absent = frozenset() if self.config.chips.update else UPDATE_OPCODES
        operations = {code: value for code, value in OPERATION_OF.items() if code not in absent}
        operation = reduce(or_, (Mux(opcode == code, value, 0) for code, value in operations.items()))
        fields = {
            name: field(getattr(Submission, name))
            for name in (
                "fuse", "psdt", "cid", "nsid", "address", "length", "sgl_type", "action", "select_all",
                "report_options", "partial", "pages", "copies", "rows", "source_page", "physical",
                "restored_state", "unsure", "wear", "sequence", "generation", "time",
                *(("exact",) if self.config.codec else ()),
                *(("first_part", "parts") if self.config.part_bytes else ()),
            )
        }  # fmt: skip
        fields |= {
            "error": entry.error,
            "port": entry.port,
            "operation": Mux(entry.error, Operation.INVALID, operation),
            "source_nsid": field(Submission.source),
            "first_block": field(Submission.slba),
            "restores": one_of(
                opcode, *(code for code, op in OPERATION_OF.items() if op == Operation.RESTORE)
            ),
            "blocks": field(Submission.nlb) + 1,
            "report_bytes": (field(Submission.dwords) + 1) << 2,
            "tile_events": field(Submission.copies)[: self.config.geometry.plane_bits + 1] + 1,
            **coded(self.config, {"expanded": field(Submission.expanded) + 1}),
        }
        return [parsed[name].eq(value) for name, value in fields.items()]

    def _derive(self, m: Module, parsed) -> None:
        """Registers for what follows from the fields."""
        config, g, op = self.config, self.config.geometry, parsed.operation
        stream_number, source_number = (
            (number - 1)[:STREAM_BITS] for number in (parsed.nsid, parsed.source_nsid)
        )
        table, source_table = (Signal(StreamTable(config), name=n) for n in ("table", "source_table"))
        blocks = one_of(
            op, Operation.READ, Operation.WRITE, Operation.APPEND, Operation.UPDATE,
            Operation.CONSTANTS, Operation.STATISTICS, Operation.INSPECT,
        )  # fmt: skip
        m.d.sync += [
            parsed.has_blocks.eq(blocks),
            parsed.is_report.eq(op == Operation.RECEIVE),
            parsed.has_data.eq(blocks | (op == Operation.RECEIVE)),
            parsed.one_zone.eq(
                one_of(
                    op, Operation.READ, Operation.WRITE, Operation.APPEND, Operation.UPDATE,
                    Operation.RECEIVE, Operation.RETIRE,
                )
                | (op == Operation.SEND) & ~parsed.select_all
                | (op == Operation.RESTORE) & (parsed.action == RestoreAction.ZONE)
            ),
            parsed.has_source.eq(
                (op == Operation.UPDATE)
                | (op == Operation.GENERATION) & (parsed.action == GenerationAction.COMMIT)
            ),
            parsed.known.eq((parsed.nsid != 0) & (parsed.nsid <= MAX_STREAMS)),
            parsed.stream.eq(stream_number),
            parsed.table.eq(table),
            parsed.access.eq(Mux(parsed.port == Port.CORE, table.core, table.host)),
            parsed.source_known.eq((parsed.source_nsid != 0) & (parsed.source_nsid <= MAX_STREAMS)),
            parsed.source.eq(source_number),
            parsed.source_table.eq(source_table),
            parsed.source_access.eq(Mux(parsed.port == Port.CORE, source_table.core, source_table.host)),
            parsed.end.eq(parsed.address[: config.address_bits] + parsed.length),
            parsed.slba.eq(parsed.first_block - parsed.restores),
            parsed.room.eq((parsed.report_bytes - ReportHeader.BYTES) >> bits_for(ZoneDescriptor.BYTES)),
            parsed.update_blocks.eq((parsed.rows * parsed.pages[: g.plane_bits + 1]) << g.channel_bits),
            parsed.other_events.eq((parsed.rows * parsed.tile_events) << g.channel_bits),
        ]  # fmt: skip
        if config.codec:
            self._derive_codec(m, table, parsed)
        if config.part_bytes:
            m.d.sync += [
                parsed.of_parts.eq((op == Operation.READ) & (parsed.parts != 0)),
                parsed.parts_end.eq(parsed.first_part + parsed.parts),
            ]
        for which, row in ((stream_number, table), (source_number, source_table)):
            with m.Switch(which):
                for number, settings in enumerate(self.streams):
                    with m.Case(number):
                        m.d.comb += row.eq(settings)

    def _derive_codec(self, m: Module, table, parsed) -> None:
        """The codec of the command's data, and the bound of an append (`spec.codec.bound`)."""
        stored, codec = Signal(17), Signal(CODEC_BITS)
        m.d.comb += [
            codec.eq(Mux((table.codec != Codec.RAW) & parsed.exact, Codec.WINDOW16, table.codec)),
            stored.eq(Mux(codec == Codec.ROUND16, (parsed.blocks + 1) >> 1, parsed.blocks)),
        ]
        m.d.sync += [
            parsed.codec.eq(codec),
            parsed.bound.eq(stored + (stored >> bound_shift(self.config.geometry.page_bytes)) + 1),
        ]

    def _check(self, m: Module, parsed, command):
        config, g, op = self.config, self.config.geometry, parsed.operation
        blocks, report, has_data = parsed.has_blocks, parsed.is_report, parsed.has_data
        one_zone, has_source = parsed.one_zone, parsed.has_source
        zone = parsed.slba[g.zone_size_bits :]
        same = parsed.source == parsed.stream
        checks = [
            (parsed.error, Status.DATA_TRANSFER_ERROR),
            (op == Operation.INVALID, Status.INVALID_OPCODE),
            ((parsed.fuse != 0) | has_data & (parsed.psdt != Submission.PSDT_SGL), Status.INVALID_FIELD),
            (~parsed.known, Status.INVALID_NAMESPACE),
            (~parsed.table.valid, Status.INVALID_FIELD),
            (has_source & (~parsed.source_known | same), Status.INVALID_NAMESPACE),
            (has_source & ~parsed.source_table.valid, Status.INVALID_FIELD),
            (~self._allowed(parsed), Status.ACCESS_DENIED),
            (has_source & ~self._source_allowed(parsed), Status.ACCESS_DENIED),
            *([(self._needs_raw(parsed), Status.STREAM_IS_CODED)] if config.codec else []),
            *((bad, Status.INVALID_FIELD) for bad in self._bad_fields(parsed, blocks, one_zone, has_source)),
            (has_data & (parsed.sgl_type != 0), Status.SGL_TYPE_INVALID),
            (has_data & (parsed.length != self._data_bytes(parsed)), Status.SGL_LENGTH_INVALID),
            (blocks & self._misaligned(parsed), Status.SGL_GRANULARITY_INVALID),
            (report & parsed.address[:REPORT_GRANULARITY_BITS].any(), Status.SGL_GRANULARITY_INVALID),
            (has_data & self._outside_memory(parsed), Status.DATA_TRANSFER_ERROR),
            (one_zone & (zone >= parsed.table.zones), Status.LBA_OUT_OF_RANGE),
            ((op == Operation.INSPECT) & (zone >= g.blocks), Status.LBA_OUT_OF_RANGE),
        ]
        failures, first_failure = Signal(len(checks)), Signal(Status)
        for number, (fails, _) in enumerate(checks):
            m.d.sync += failures[number].eq(fails)
        for number, (_, status) in reversed(list(enumerate(checks))):  # of several the last one holds
            with m.If(failures[number]):
                m.d.comb += first_failure.eq(status)

        m.d.comb += [
            command.operation.eq(op),
            command.status.eq(first_failure),
            command.port.eq(parsed.port),
            command.cid.eq(parsed.cid),
            command.stream.eq(parsed.stream),
            command.zone.eq(parsed.table.first + zone),
            command.index.eq(zone),
            command.offset.eq(parsed.slba),
            command.blocks.eq(parsed.blocks),
            command.buffer_block.eq(parsed.address >> config.page_shift),
            command.address.eq(parsed.address),
            command.descriptors.eq(Mux(parsed.room < parsed.table.zones, parsed.room, parsed.table.zones)),
            command.report_filter.eq(parsed.report_options),
            command.partial.eq(parsed.partial),
            command.action.eq(parsed.action),
            command.select_all.eq(parsed.select_all),
            command.source.eq(parsed.source),
            command.first_zone.eq(
                Mux(op == Operation.UPDATE, parsed.source_table.first, parsed.table.first) + zone
            ),
            command.source_page.eq(parsed.source_page),
            command.rows.eq(parsed.rows),
            command.last_page.eq(parsed.pages - 1),
            command.copies.eq(parsed.copies),
            command.events.eq(parsed.blocks + parsed.other_events),
            command.physical.eq(Mux(op == Operation.INSPECT, zone, parsed.physical)),
            command.restored_state.eq(parsed.restored_state),
            command.unsure.eq(parsed.unsure),
            command.wear.eq(parsed.wear),
            command.sequence.eq(parsed.sequence),
            command.generation.eq(parsed.generation),
            command.time.eq(parsed.time),
        ]
        if config.codec:
            m.d.comb += [
                command.codec.eq(parsed.codec),
                command.bound.eq(parsed.bound),
                command.expanded.eq(parsed.expanded),
            ]
        if config.part_bytes:
            part, low = command.part, bits_for(config.part_bytes)
            with m.If(parsed.of_parts):
                m.d.comb += [
                    part.before.eq(parsed.first_part),
                    part.behind.eq(-parsed.parts_end),  # modulo the parts of a page
                    part.target.eq(parsed.address[low : config.page_shift]),
                ]

    def _misaligned(self, parsed):
        low = parsed.address[: self.config.page_shift]
        if not self.config.part_bytes:
            return low.any()
        return Mux(parsed.of_parts, low[: bits_for(self.config.part_bytes)].any(), low.any())

    def _needs_raw(self, parsed):
        """Whether the command moves blocks as they are, on a stream with a codec."""
        op = parsed.operation
        updates = op == Operation.UPDATE
        is_coded, source_is_coded = (
            table.codec != Codec.RAW for table in (parsed.table, parsed.source_table)
        )
        return ((op == Operation.WRITE) | updates) & is_coded | updates & source_is_coded

    def _expands(self, parsed):
        """Whether the command reads a stream with a codec."""
        return (parsed.operation == Operation.READ) & (parsed.table.codec != Codec.RAW)

    def _allowed(self, parsed):
        needed = Mux(
            one_of(parsed.operation, Operation.RECEIVE, Operation.STATISTICS), Access.READ | Access.APPEND,
            Mux(parsed.operation == Operation.READ, Const(Access.READ, 2), Const(Access.APPEND, 2)),
        )  # fmt: skip
        recovers = one_of(parsed.operation, Operation.INSPECT, Operation.RESTORE)
        return Mux(recovers, parsed.port == Port.HOST, (parsed.access & needed).any())

    def _source_allowed(self, parsed):
        reads = parsed.operation == Operation.UPDATE
        return (parsed.source_access & Mux(reads, Const(Access.READ, 2), Const(Access.APPEND, 2))).any()

    def _bad_fields(self, parsed, blocks, one_zone, has_source):
        """Conditions on the fields, in four parts."""
        op, g = parsed.operation, self.config.geometry
        any_offset = one_of(op, Operation.READ, Operation.WRITE, Operation.RECEIVE, Operation.RESTORE)
        offset = parsed.slba[: g.zone_size_bits]
        bad_report = (parsed.action != ZoneReport.REPORT_ZONES) | (parsed.report_options > max(ReportFilter))
        bad_report |= parsed.report_bytes < ReportHeader.BYTES
        bad_send = ~one_of(parsed.action, *ZoneAction)
        bad_retire = ~one_of(parsed.action, ZoneState.READ_ONLY, ZoneState.OFFLINE)
        bad_generation = ~one_of(parsed.action, *GenerationAction)
        for_all_dies = one_of(op, Operation.CONSTANTS, Operation.STATISTICS)
        bad_update = (parsed.pages == 0) | (parsed.pages > g.planes) | (parsed.copies > parsed.pages)
        bad_update |= (parsed.rows == 0) | (parsed.blocks != parsed.update_blocks)
        bad_update |= parsed.source_page >= g.pages
        bad_state = ~one_of(parsed.restored_state, *RESTORED_STATES)
        bad_restore = self._bad_restore(parsed) | (parsed.action == RestoreAction.ZONE) & bad_state
        too_many = parsed.blocks > self.config.max_blocks
        if self.config.codec:
            encodes = (op == Operation.APPEND) & (parsed.table.codec != Codec.RAW)
            too_many |= encodes & (parsed.bound > self.config.max_blocks)
            too_many |= self._expands(parsed) & (parsed.expanded > self.config.max_blocks)
        bad_blocks = (
            blocks & too_many
            | one_zone & ~any_offset & offset.any()
            | for_all_dies & (parsed.blocks != g.channels * g.dies)
        )
        if self.config.part_bytes:
            beyond = (parsed.parts_end > self.config.page_parts) | (parsed.blocks != 1)
            bad_blocks |= (op == Operation.READ) & Mux(parsed.of_parts, beyond, parsed.first_part != 0)
        return (
            bad_blocks,
            (op == Operation.RECEIVE) & bad_report
            | (op == Operation.SEND) & bad_send
            | (op == Operation.RETIRE) & bad_retire
            | (op == Operation.GENERATION) & bad_generation,
            (op == Operation.UPDATE) & bad_update,
            (op == Operation.RESTORE) & bad_restore
            | has_source & (parsed.source_table.zones != parsed.table.zones),
        )

    def _bad_restore(self, parsed):
        """The action, and the blocks that it names."""
        g, action = self.config.geometry, parsed.action
        names_physical = one_of(action, RestoreAction.ZONE, RestoreAction.PHYSICAL)
        if not g.spare_blocks:
            known = [one for one in RestoreAction if one != RestoreAction.BLOCK]
            return ~one_of(action, *known) | names_physical & (parsed.physical >= g.zones)

        s = Submission
        no_block = (parsed.physical >= g.blocks) | (
            parsed.generation[s.spare.within(s.generation)] >= g.spare_blocks
        )
        for which, limit in ((s.channel, g.channels), (s.die, g.dies), (s.plane, g.planes)):
            no_block |= parsed.sequence[which.within(s.sequence)] >= limit
        return (
            ~one_of(action, *RestoreAction)
            | (action == RestoreAction.ZONE) & (parsed.physical >= g.zones)
            | (action == RestoreAction.PHYSICAL) & (parsed.physical >= g.blocks)
            | (action == RestoreAction.BLOCK) & no_block
        )

    def _data_bytes(self, parsed):
        blocks = parsed.blocks << self.config.page_shift
        if self.config.codec:
            expanded = parsed.expanded << self.config.page_shift
            blocks = Mux(self._expands(parsed), expanded, blocks)
        if self.config.part_bytes:
            blocks = Mux(parsed.of_parts, parsed.parts << bits_for(self.config.part_bytes), blocks)
        return Mux(parsed.is_report, parsed.report_bytes, blocks)

    def _outside_memory(self, parsed):
        bits = self.config.address_bits
        return parsed.address[bits:].any() | (parsed.end > 1 << bits) | (parsed.end > self.memory_bytes)
