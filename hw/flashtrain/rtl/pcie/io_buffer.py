"""I/O commands between the queues and their executor: lengths, data pointers, and how many are open."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Opcode, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.host_commands import BLOCK_OPCODES
from flashtrain.spec.nvme import BitField
from flashtrain.spec.pcie import RESERVED_PSDT

from .layouts import (
    BLOCK_BYTES,
    MOST_BYTES,
    OPEN_BITS,
    QUEUE_BITS,
    DataPointer,
    IoCommand,
    QueueAnswer,
    QueueEntry,
    bits_of,
)
from .queue_engine import BUFFER_ENTRIES

_FIRST, _SECOND = BitField(192, 64), BitField(256, 64)
"""Dwords 6 to 9 of an entry (NVM Express Base 2.0, Figure 87)."""
_TOTAL_BITS = 16
"""Of all open commands: each has a place in one of the completion queues."""


class IoBuffer(wiring.Component):
    """Gives a command out with the length of its data, and its data pointer to the walker before it.

    Reads, writes, appends and zone reports have pieces, with data of up to `most_bytes`. All other
    commands have `length` 0 and no pieces, and their executor refuses the wrong ones.

    Commands that wait when the controller is disabled are dropped. The others are open until their answer,
    which passes here to the engine.

    Latency: 4 cycles from an entry to its command, 5 with data; none of an answer. Throughput: a command in 3
    cycles, or 4 with data; an answer in 2.

    Members
    -------
    enable : In(1)
    entries : In(stream(QueueEntry))   of I/O queues; always ready, at most one in 4 cycles
    taken : Out(1)            pulse: a place for an entry is free again
    pointers : Out(stream(DataPointer))
    commands : Out(stream(IoCommand))   in the order of the entries
    done : In(stream(QueueAnswer)), answers : Out(stream(QueueAnswer))
    queue : In, open : Out    its commands that are open, a cycle later
    idle : Out(1)             no command is open; not in `queues` + 2 cycles behind a reset
    """

    def __init__(self, queues: int, block_bytes: int = BLOCK_BYTES, most_bytes: int = MOST_BYTES):
        self.queues = queues
        self.block_shift = bits_for(block_bytes)
        self.most_bytes = most_bytes
        super().__init__({
            "enable": In(1),
            "entries": In(stream.Signature(QueueEntry(), always_ready=True)),
            "taken": Out(1),
            "pointers": Out(stream.Signature(DataPointer(most_bytes))),
            "commands": Out(stream.Signature(IoCommand(most_bytes))),
            "done": In(stream.Signature(QueueAnswer())),
            "answers": Out(stream.Signature(QueueAnswer())),
            "queue": In(QUEUE_BITS),
            "open": Out(OPEN_BITS),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.waiting = waiting = Queue(QueueEntry(), BUFFER_ENTRIES)
        dropped, may_drop = Signal(), Signal()
        m.d.comb += [
            waiting.input.valid.eq(self.entries.valid),
            waiting.input.payload.eq(self.entries.payload),
            self.taken.eq(waiting.output.valid & waiting.output.ready),
        ]
        self._count(m, waiting.output.payload.queue, dropped, may_drop)
        self._offer(m, waiting.output, dropped, may_drop)
        return m

    def _offer(self, m: Module, item, dropped, may_drop):
        """The command at the front, which stays there until it is taken."""
        entry, pointer, command = item.payload.bytes, self.pointers.payload, self.commands.payload
        length, blocks = Signal.like(command.length), bits_of(entry, Submission.nlb)
        dwords, opcode = bits_of(entry, Submission.dwords), bits_of(entry, Submission.opcode)
        of_blocks, of_dwords, fit = Signal(), Signal(), Signal(2)
        m.d.comb += [
            pointer.first.eq(bits_of(entry, _FIRST)),
            pointer.second.eq(bits_of(entry, _SECOND)),
            pointer.length.eq(length),
            pointer.sgl.eq(bits_of(entry, Submission.psdt) != 0),
            command.queue.eq(item.payload.queue),
            command.bytes.eq(entry),
            command.length.eq(length),
        ]
        has_pointer = bits_of(entry, Submission.psdt) != RESERVED_PSDT
        with m.FSM():
            with m.State("WAIT"):
                m.d.sync += [
                    of_blocks.eq(has_pointer & Cat(opcode == one for one in BLOCK_OPCODES).any()),
                    of_dwords.eq(has_pointer & (opcode == Opcode.ZONE_MANAGEMENT_RECEIVE)),
                    fit.eq(Cat(blocks < self.most_bytes >> self.block_shift, dwords < self.most_bytes // 4)),
                ]
                with m.If(item.valid & self.enable):
                    m.next = "LENGTH"
                with m.Elif(item.valid & may_drop):
                    m.d.comb += [item.ready.eq(1), dropped.eq(1)]
            with m.State("LENGTH"):
                of_data = of_blocks & fit[0] | of_dwords & fit[1]
                size = Mux(of_blocks, blocks + 1 << self.block_shift, (dwords + 1)[: len(length)] << 2)
                m.d.sync += length.eq(Mux(of_data, size, 0))
                m.next = "OFFER"
                with m.If(of_data):
                    m.next = "POINT"
            with m.State("POINT"):
                m.d.comb += self.pointers.valid.eq(1)
                with m.If(self.pointers.ready):
                    m.next = "OFFER"
            with m.State("OFFER"):
                m.d.comb += [self.commands.valid.eq(1), item.ready.eq(self.commands.ready)]
                with m.If(self.commands.ready):
                    m.next = "WAIT"

    def _count(self, m: Module, front, dropped, may_drop):
        """Open commands, of each queue and of all. Entries, answers and drops wait for their turn."""
        memory = Memory(shape=OPEN_BITS, depth=self.queues + 1, init=[])
        m.submodules.counts = memory
        reader, shown, writer = memory.read_port(domain="comb"), memory.read_port(), memory.write_port()
        total, kinds, at = Signal(_TOTAL_BITS), Signal(3), Signal(QUEUE_BITS)
        # A reset leaves the memory as it is: commands may have been open.
        cleared, clears = Signal(), Signal(range(self.queues + 1), init=self.queues)
        with m.If(~cleared):
            m.d.sync += [cleared.eq(clears == 0), clears.eq(clears - 1)]
        queues = [Signal(QUEUE_BITS, name=f"counted_{one}") for one in range(3)]
        events = (
            (self.entries.valid, self.entries.payload.queue),
            (self.done.valid & self.done.ready, self.done.payload.queue),
            (dropped, front),
        )
        now = Cat(kinds[0], kinds[1] & ~kinds[0], kinds[2] & ~kinds[:2].any())
        for number, (event, queue) in enumerate(events):
            m.d.sync += kinds[number].eq(event | kinds[number] & ~now[number])
            with m.If(event):
                m.d.sync += queues[number].eq(queue)
        more = kinds[0]
        m.d.comb += [
            self.answers.payload.eq(self.done.payload),
            self.answers.valid.eq(self.done.valid & ~kinds[1]),
            self.done.ready.eq(self.answers.ready & ~kinds[1]),
            may_drop.eq(~kinds[2]),
            at.eq(Mux(more, queues[0], Mux(kinds[1], queues[1], queues[2]))),
            reader.addr.eq(at),
            writer.addr.eq(Mux(cleared, at, clears)),
            writer.data.eq(Mux(cleared, Mux(more, reader.data + 1, reader.data - 1), 0)),
            writer.en.eq(kinds.any() | ~cleared),
            shown.addr.eq(self.queue),
            self.open.eq(shown.data),
        ]
        with m.If(kinds.any()):
            m.d.sync += total.eq(Mux(more, total + 1, total - 1))
        m.d.sync += self.idle.eq((total == 0) & ~kinds.any() & ~self.entries.valid & cleared)
