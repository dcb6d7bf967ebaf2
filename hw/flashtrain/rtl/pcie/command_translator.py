"""NVMe commands of hosts to commands of the controller, and its answers to theirs (`spec.host_commands`)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STATUS_BITS
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue, lowest, select
from flashtrain.spec import FmsConfig, Opcode, Status, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.host_commands import BLOCK_OPCODES, EVERY_NAMESPACE, FORCE_UNIT_ACCESS, HOST_OPCODES
from flashtrain.spec.nvme import RETRIED, ReportFilter, ZoneReport
from flashtrain.spec.pcie import RESERVED_PSDT
from flashtrain.spec.registers import MAX_STREAMS

from .layouts import (
    MOST_BYTES,
    NSID_BITS,
    OPTION_BITS,
    QUEUE_BITS,
    BlockRun,
    DeviceAnswer,
    DeviceCommand,
    IoCommand,
    NamespaceSettings,
    QueueAnswer,
    bits_of,
)

_OPTIONS = {
    Opcode.ZONE_MANAGEMENT_SEND: (Submission.action, Submission.select_all),
    Opcode.ZONE_MANAGEMENT_RECEIVE: (Submission.action, Submission.report_options, Submission.partial),
}
"""Fields of dword 13 that pass to the controller; all others are the vendor's or reserved."""


class CommandTranslator(wiring.Component):
    """Checks commands of hosts, gives them to the controller with a slot as their CID, and answers them.

    Each command has a slot until its answer. The mover of data gets the slot of each command with data.
    It answers when it has all their addresses, or with the status of a wrong data pointer. Commands go to the
    controller in the order in which they have come. Answers come in any order, and go first.

    A command with several steps keeps its slot. Its row says which namespaces are still to be flushed. An
    append keeps its LBA there while its stream is flushed. A read of unwritten blocks keeps how many are
    still to be read one by one. The writer of zeros has those from the first unwritten one on.

    Latency: 7 cycles from a command without data to the controller's. With data 2 to its place, and 4 from
    where they are. 3 from the controller's answer to the host's, or to the next step. Throughput: a command
    and its answer in 8 cycles; a further step takes as much.

    Members
    -------
    namespaces : In(NamespaceSettings).array(MAX_STREAMS)   by NSID - 1; constant while a command is open
    commands : In(stream(IoCommand))
    places : Out(stream(slot))        of commands with a length, in their order
    pointed : In(stream(status))      of each place: that of the data pointer
    entries : Out(stream(DeviceCommand))
    completions : In(stream(DeviceAnswer))   one of each entry
    zeros : Out(stream(BlockRun))     ready for one of each slot
    zeroed : In(stream(slot))         zeros are written
    done : Out(stream(QueueAnswer))
    """

    def __init__(self, config: FmsConfig, slots: int, most_bytes: int = MOST_BYTES):
        self.config = config
        self.slots = slots
        self.most_bytes = most_bytes
        self.slot_bits = bits_for(slots)
        self.block_bytes = config.geometry.page_bytes
        self.command = DeviceCommand(slots, most_bytes, self.block_bytes)
        super().__init__({
            "namespaces": In(NamespaceSettings(config)).array(MAX_STREAMS),
            "commands": In(stream.Signature(IoCommand(most_bytes))),
            "places": Out(stream.Signature(self.slot_bits)),
            "pointed": In(stream.Signature(STATUS_BITS)),
            "entries": Out(stream.Signature(self.command)),
            "completions": In(stream.Signature(DeviceAnswer(slots))),
            "zeros": Out(stream.Signature(BlockRun(slots, most_bytes, self.block_bytes))),
            "zeroed": In(stream.Signature(self.slot_bits)),
            "done": Out(stream.Signature(QueueAnswer())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        row = data.StructLayout({
            "queue": QUEUE_BITS, "cid": Submission.cid.width, "status": STATUS_BITS,
            "flushes": MAX_STREAMS, "appends": 1, "fills": 1, "more": self.command["block"].width,
            "command": self.command,
        })  # fmt: skip
        rows = Memory(shape=row, depth=self.slots, init=[], attrs=NEVER_COLLIDES)
        m.submodules.rows = rows
        m.submodules.freed = freed = Queue(self.slot_bits, self.slots)
        begun = data.StructLayout({"slot": self.slot_bits, "has_data": 1})
        m.submodules.begun = waiting = Queue(begun, self.slots)
        fresh = Signal(range(self.slots + 1))
        writes_back, changed = Signal(), Signal(row)
        self._at, self._row = Signal(self.slot_bits), Signal(row)
        self._write_rows(m, rows.write_port(), writes_back, changed)
        self._take(m, freed.output, fresh, waiting.input, writes_back)
        self._act(m, rows.read_port(), waiting.output, freed.input, writes_back, changed)
        return m

    def _write_rows(self, m: Module, writer, writes_back, changed):
        """A new row, or one that is changed, which goes first."""
        self._new, self._stores = Signal.like(changed), Signal()
        m.d.comb += [
            writer.addr.eq(Mux(writes_back, self._at, self._new.command.slot)),
            Value.cast(writer.data).eq(Mux(writes_back, changed.as_value(), self._new.as_value())),
            writer.en.eq(writes_back | self._stores),
        ]

    # From a command to its row.

    def _take(self, m: Module, freed, fresh, begun, writes_back):
        """Check the command at the front, give it a slot, and write its row."""
        item, new = self.commands, self._new
        has_data, slot = Signal(), Signal(self.slot_bits)
        never_used = fresh != self.slots
        m.d.comb += [
            has_data.eq(item.payload.length != 0),
            slot.eq(Mux(never_used, fresh, freed.payload)),
            self.places.payload.eq(slot),
            begun.payload.slot.eq(slot),
            begun.payload.has_data.eq(has_data),
        ]
        status = self._check(m, item.payload)
        with m.FSM(name="take"):
            with m.State("WAIT"), m.If(item.valid & (never_used | freed.valid)):
                m.next = "CHECK"
            with m.State("CHECK"):
                m.next = "STORE"
                with m.If(has_data):
                    m.next = "PLACE"
            with m.State("PLACE"):
                m.d.comb += self.places.valid.eq(1)
                with m.If(self.places.ready):
                    m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += self._stores.eq(~writes_back)
                with m.If(~writes_back):
                    # There is room for all slots.
                    m.d.comb += [begun.valid.eq(1), item.ready.eq(1), freed.ready.eq(~never_used)]
                    m.d.sync += fresh.eq(fresh + never_used)
                    m.next = "WAIT"
        raw, command = item.payload.bytes, new.command
        m.d.comb += [
            new.queue.eq(item.payload.queue),
            new.cid.eq(bits_of(raw, Submission.cid)),
            new.status.eq(status),
            command.slot.eq(slot),
            command.opcode.eq(bits_of(raw, Submission.opcode)),
            command.slba.eq(bits_of(raw, Submission.slba)),
            command.count.eq(
                Mux(self._moves_blocks, bits_of(raw, Submission.nlb), bits_of(raw, Submission.dwords))
            ),
            command.length.eq(item.payload.length),
        ]

    def _check(self, m: Module, item):
        """The status of a command two cycles after it has come; with it what its row has of its namespace."""
        s, raw, new, g = Submission, item.bytes, self._new, self.config.geometry
        opcode, nsid = bits_of(raw, s.opcode), bits_of(raw, s.nsid)

        def is_one(*opcodes: Opcode):
            return reduce(or_, (opcode == one for one in opcodes))

        # The first cycle: fields of the entry, and the row of its namespace.
        row = Signal(NamespaceSettings(self.config))
        active = Cat(one.zones.any() for one in self.namespaces)
        able = Cat(one.zones.any() & one.appends for one in self.namespaces)
        chosen = Signal(MAX_STREAMS)
        m.d.comb += chosen.eq(Cat(nsid == number + 1 for number in range(MAX_STREAMS)))
        last = Signal(s.slba.width + 1)
        blocks, report, flush = (Signal(name=name) for name in ("moves_blocks", "reports", "flushes"))
        self._moves_blocks = blocks
        unknown, odd_pointer, fused, every, exists, unused, wrong, too_long, durable, reads = (
            Signal(name=name)
            for name in ("unknown", "odd_pointer", "fused", "every", "exists", "unused", "wrong", "too_long",
                         "durable", "reads")
        )  # fmt: skip
        of_blocks, of_report = is_one(*BLOCK_OPCODES), is_one(Opcode.ZONE_MANAGEMENT_RECEIVE)
        m.d.sync += [
            Value.cast(row).eq(select(chosen, self.namespaces)),
            blocks.eq(of_blocks),
            report.eq(of_report),
            flush.eq(is_one(Opcode.FLUSH)),
            reads.eq(is_one(Opcode.READ)),
            unknown.eq(~is_one(*HOST_OPCODES)),
            odd_pointer.eq(bits_of(raw, s.psdt) == RESERVED_PSDT),
            fused.eq(bits_of(raw, s.fuse) != 0),
            every.eq(nsid == EVERY_NAMESPACE),
            exists.eq((chosen & active).any()),
            unused.eq(Cat(chosen[number] & active[number:].any() for number in range(MAX_STREAMS)).any()),
            wrong.eq((bits_of(raw, s.action) != ZoneReport.REPORT_ZONES)
                     | (bits_of(raw, s.report_options) > max(ReportFilter))),
            too_long.eq(item.length == 0),
            durable.eq(is_one(Opcode.WRITE, Opcode.ZONE_APPEND) & bits_of(raw, FORCE_UNIT_ACCESS)),
            last.eq(bits_of(raw, s.slba) + Mux(of_blocks, bits_of(raw, s.nlb), 0)),
            new.appends.eq(is_one(Opcode.ZONE_APPEND)),
        ]  # fmt: skip
        # Nothing else of dword 13 passes.
        options = 0
        for code, fields in _OPTIONS.items():
            known = sum((1 << one.width) - 1 << one.low - s.action.low for one in fields)
            options |= Mux(opcode == code, known, 0)
        m.d.sync += new.command.options.eq(raw[s.action.low : s.action.low + OPTION_BITS] & options)
        # The second cycle.
        status, outside = Signal(STATUS_BITS), Signal()
        m.d.comb += outside.eq(last[g.zone_size_bits :] >= row.zones)
        of_all = flush & every
        first = lowest(able)
        fails = (
            (odd_pointer, Status.INVALID_FIELD),
            (unknown, Status.INVALID_OPCODE),
            (fused, Status.INVALID_FIELD),
            (~of_all & ~exists & (unused | every), Status.INVALID_FIELD),
            (~of_all & ~exists, Status.INVALID_NAMESPACE),
            ((blocks | report) & too_long | report & wrong, Status.INVALID_FIELD),
            ((blocks | report) & outside, Status.LBA_OUT_OF_RANGE),
        )
        m.d.sync += status.eq(Status.SUCCESS)
        for failed, value in reversed(fails):
            with m.If(failed):
                m.d.sync += status.eq(value)
        # A flush of all namespaces begins with the first one; where there is none, it has no step at all.
        m.d.sync += [
            new.command.nsid.eq(Mux(of_all, _number_of(first), nsid[:NSID_BITS])),
            new.flushes.eq(Mux(of_all, able & ~first, Mux(durable & row.volatile, chosen, 0))),
            new.fills.eq(reads & ~row.fails_on_unwritten),
        ]
        return status

    # From a row to the controller, and back to the host.

    def _act(self, m: Module, reader, begun, freed, writes_back, changed):
        """The next command whose data have their places, or an answer of the controller."""
        row, answer = self._row, self.completions.payload
        ends, failed, status = Signal(), Signal(), Signal(STATUS_BITS)
        result, follows = Signal(64), Signal()
        # A read of unwritten blocks: it is divided, has another block to read, or its zeros are written.
        divides, goes_on, fills, filled = (
            Signal(name=name) for name in ("divides", "goes_on", "fills", "filled")
        )
        following = lowest(row.flushes)
        of_command = begun.valid & (~begun.payload.has_data | self.pointed.valid)
        m.d.comb += [
            reader.addr.eq(
                Mux(
                    self.completions.valid,
                    answer.slot,
                    Mux(self.zeroed.valid, self.zeroed.payload, begun.payload.slot),
                )
            ),
            self.entries.payload.eq(row.command),
            failed.eq(status != Status.SUCCESS),
            follows.eq(ends & ~failed & row.flushes.any()),
            fills.eq(ends & row.fills & (status == Status.UNWRITTEN_BLOCK)),
            divides.eq(fills & (row.command.count != 0)),
            goes_on.eq(ends & ~failed & ~filled & (row.more != 0)),
        ]
        with m.FSM(name="act"):
            with m.State("CHOOSE"):
                m.d.sync += ends.eq(self.completions.valid | self.zeroed.valid)
                m.d.sync += filled.eq(~self.completions.valid)
                m.d.sync += self._at.eq(reader.addr)
                with m.If(self.completions.valid):
                    m.d.comb += self.completions.ready.eq(1)
                    m.d.sync += [
                        status.eq(Mux(answer.unreachable, Status.DATA_TRANSFER_ERROR, answer.status)),
                        result.eq(answer.result),
                    ]
                    m.next = "READ"
                with m.Elif(self.zeroed.valid):
                    m.d.comb += self.zeroed.ready.eq(1)
                    m.d.sync += status.eq(Status.SUCCESS)
                    m.next = "READ"
                with m.Elif(of_command):
                    m.d.comb += [begun.ready.eq(1), self.pointed.ready.eq(begun.payload.has_data)]
                    m.d.sync += status.eq(Mux(begun.payload.has_data, self.pointed.payload, Status.SUCCESS))
                    m.next = "READ"
            with m.State("READ"):
                m.d.sync += row.eq(reader.data)
                m.next = "DECIDE"
            with m.State("DECIDE"):
                # A flush behind an append has kept its LBA in the row.
                flushed = row.appends & (row.command.opcode == Opcode.FLUSH)
                with m.If(flushed):
                    m.d.sync += result.eq(row.command.slba)
                m.next = "ANSWER"
                with m.If(~ends):
                    with m.If(row.status != Status.SUCCESS):
                        m.d.sync += status.eq(row.status)
                    with m.Elif(~failed & (row.command.nsid != 0)):
                        m.next = "ISSUE"
                with m.Elif(fills & ~divides):
                    m.next = "FILL"
                with m.Elif(follows | divides | goes_on):
                    m.d.comb += writes_back.eq(1)
                    m.d.sync += row.eq(changed)
                    m.next = "ISSUE"
            with m.State("ISSUE"):
                m.d.comb += self.entries.valid.eq(1)
                with m.If(self.entries.ready):
                    m.next = "CHOOSE"
            with m.State("FILL"):
                m.d.comb += self.zeros.valid.eq(1)
                with m.If(self.zeros.ready):
                    m.next = "CHOOSE"
            with m.State("ANSWER"):
                m.d.comb += self.done.valid.eq(1)
                with m.If(self.done.ready):
                    m.d.comb += freed.valid.eq(1)
                    m.next = "CHOOSE"
        # Entries have 0 where a field has no meaning.
        with m.If(row.command.length == 0):
            m.d.comb += self.entries.payload.count.eq(0)
        with m.If(row.command.opcode == Opcode.FLUSH):
            m.d.comb += self.entries.payload.slba.eq(0)
        m.d.comb += [
            changed.eq(row),
            changed.flushes.eq(row.flushes & ~following),
            changed.command.count.eq(0),
            self.zeros.payload.slot.eq(self._at),
            self.zeros.payload.block.eq(row.command.block),
            self.zeros.payload.more.eq(row.more),
            freed.payload.eq(self._at),
            self.done.payload.queue.eq(row.queue),
            self.done.payload.cid.eq(row.cid),
            self.done.payload.status.eq(status),
            self.done.payload.do_not_retry.eq(
                ~reduce(or_, (status == one for one in (Status.SUCCESS, *RETRIED)))
            ),
            self.done.payload.result.eq(Mux(row.appends & ends & ~failed, result, 0)),
        ]
        # Within a namespace, so the bits above do not change.
        lba_bits = self.config.geometry.zone_size_bits + self.config.geometry.zone_bits + 1
        with m.If(row.fills):
            m.d.comb += [
                changed.command.length.eq(self.block_bytes),
                changed.more.eq(Mux(divides, row.command.count, row.more - 1)),
            ]
            with m.If(~divides):
                m.d.comb += [
                    changed.command.block.eq(row.command.block + 1),
                    changed.command.slba[:lba_bits].eq(row.command.slba[:lba_bits] + 1),
                ]
        with m.Else():
            m.d.comb += [
                changed.command.opcode.eq(Opcode.FLUSH),
                changed.command.nsid.eq(_number_of(following)),
                changed.command.slba.eq(result),
                changed.command.length.eq(0),
            ]


def _number_of(chosen):
    """The NSID of a one-hot choice; 0 of none."""
    number = 0
    for place, bit in enumerate(chosen):
        number |= Mux(bit, place + 1, 0)
    return number
