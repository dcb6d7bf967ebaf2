"""The function on PCI Express as a whole: from requests of TLPs to commands with the places of their data."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.read_mux import ReadMux
from flashtrain.rtl.lib.write_mux import WriteMux
from flashtrain.spec.pcie import WORD_BYTES, TlpSizes, aggregation_cycles

from .admin_mailbox import AdminMailbox
from .function_registers import FunctionRegisters
from .interrupt_coalescer import InterruptCoalescer
from .io_buffer import IoBuffer
from .layouts import (
    ADDRESS_BITS,
    BLOCK_BYTES,
    DWORD_BITS,
    MOST_BYTES,
    PAGE_EXPONENT_BITS,
    Access,
    HostWrite,
    IoCommand,
    Piece,
    QueueAnswer,
    TlpCompletion,
    TlpData,
    TlpRequest,
    WordPort,
)
from .pointer_walker import PointerWalker
from .queue_engine import QueueEngine
from .tlp_port import TlpPort

UNIT_CYCLES = aggregation_cycles(600e6)
"""Of the unit of the time that interrupts wait, at the clock of the presets."""


class Function(wiring.Component):
    """An NVMe controller behind a hard block of PCI Express, without its firmware and executor of commands.

    Admin commands go to firmware by `AdminMailbox`, which makes and deletes queues. I/O commands leave in the
    order of their fetch, and the pieces of their data in the same order. An executor moves their data by
    `data_read` and `data_write`, and answers each command once, behind its data.

    Readers of the host's memory take turns: queues, lists and firmware, and data. So do writers. Posted
    requests stay in order, so a completion entry is behind the data that were taken before the answer, and
    its message behind the entry.

    CSTS.RDY falls when no command is open, and no burst. Commands that wait are dropped at once, and the open
    ones have their answers, which go nowhere. The memory is not touched then until the controller is enabled
    anew, but by messages of vectors that were pending. CC.MPS counts from then on, too.

    A reset of the unit is the reset of the function. No request may be under way then: the hard block lets no
    more pass, and waits. The executor forgets its commands at the same time. An enable waits at most
    `queues` + 4 cycles behind it.

    Latency, while the port is free: 11 cycles from a doorbell of the admin queue to its request, 13 to 16
    from another one; 7 from the last beat of an entry to the command, 8 with data; 8 from an answer to the
    request of its entry. Throughput: a command in 9 cycles, a row of data per cycle.

    Members
    -------
    accesses : In(stream(Access)), answers : Out(stream(32))   of the BAR
    requests : Out(stream(TlpRequest)), data : Out(stream(TlpData))
    completions : In(stream(TlpCompletion))   see `TlpPort`
    enable_vectors, mask_vectors : In(1)      see `FunctionRegisters`
    fault : In(1)                             CSTS.CFS
    firmware : In(stream(Access)), values : Out(stream(32)), attention : Out(1)   see `AdminMailbox`
    commands : Out(stream(IoCommand))
    pieces : Out(stream(Piece))               of commands with a length
    done : In(stream(QueueAnswer))            answers to I/O commands
    data_read : In(ReadPort), data_write : In(stream(HostWrite))   see `TlpPort`
    page_exponent : Out                       of the commands that are open
    running : Out(1)                          queues are in use, or a command is open
    """

    def __init__(
        self,
        queues: int,
        entries: int,
        block_bytes: int = BLOCK_BYTES,
        most_bytes: int = MOST_BYTES,
        tlp: TlpSizes | None = None,
        unit_cycles: int = UNIT_CYCLES,
    ):
        self.queues = queues
        self.entries = entries
        self.block_bytes = block_bytes
        self.most_bytes = most_bytes
        self.tlp = tlp = tlp or TlpSizes()
        self.unit_cycles = unit_cycles
        self.sizes = {"address_bits": ADDRESS_BITS, "data_bits": 8 * WORD_BYTES}
        super().__init__({
            "accesses": In(stream.Signature(Access())),
            "answers": Out(stream.Signature(DWORD_BITS)),
            "requests": Out(stream.Signature(TlpRequest(tlp))),
            "data": Out(stream.Signature(TlpData(tlp))),
            "completions": In(stream.Signature(TlpCompletion(tlp), always_ready=True)),
            "enable_vectors": In(1),
            "mask_vectors": In(1),
            "fault": In(1),
            "firmware": In(stream.Signature(Access())),
            "values": Out(stream.Signature(DWORD_BITS)),
            "attention": Out(1),
            "commands": Out(stream.Signature(IoCommand(most_bytes))),
            "pieces": Out(stream.Signature(Piece())),
            "done": In(stream.Signature(QueueAnswer())),
            "data_read": In(ReadPort(address_bits=ADDRESS_BITS, data_bits=8 * tlp.port_bytes)),
            "data_write": In(stream.Signature(HostWrite(tlp.port_bytes))),
            "page_exponent": Out(PAGE_EXPONENT_BITS),
            "running": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.registers = registers = FunctionRegisters(self.queues, self.entries)
        m.submodules.engine = engine = QueueEngine(self.queues)
        m.submodules.mailbox = mailbox = AdminMailbox()
        m.submodules.buffer = buffer = IoBuffer(self.queues, self.block_bytes, self.most_bytes)
        m.submodules.walker = walker = PointerWalker(self.most_bytes)
        m.submodules.port = port = TlpPort(self.tlp)
        m.submodules.coalescer = coalescer = InterruptCoalescer(self.queues + 1, self.unit_cycles)
        m.submodules.reads = reads = ReadMux(3, **self.sizes)
        m.submodules.writes = writes = WriteMux(2, **self.sizes, parts=WordPort.PARTS)

        # The host's side.
        connect(m, flipped(self.accesses), registers.accesses)
        connect(m, registers.answers, flipped(self.answers))
        connect(m, port.requests, flipped(self.requests))
        connect(m, port.data, flipped(self.data))
        connect(m, flipped(self.completions), port.completions)
        connect(m, registers.messages, port.messages)
        connect(m, flipped(self.data_read), port.data_read)
        connect(m, flipped(self.data_write), port.data_write)
        for mux, name in ((reads.readers, "read"), (writes.writers, "write")):
            sources = [unit for unit in (engine, mailbox, walker) if name in unit.signature.members]
            for number, unit in enumerate(sources):
                connect(m, getattr(unit, name), mux[number])
        connect(m, reads.axi, port.read)
        connect(m, writes.axi, port.write)

        # Firmware, and who executes commands.
        connect(m, flipped(self.firmware), mailbox.accesses)
        connect(m, mailbox.values, flipped(self.values))
        connect(m, buffer.commands, flipped(self.commands))
        connect(m, buffer.pointers, walker.pointers)
        connect(m, walker.pieces, flipped(self.pieces))
        connect(m, flipped(self.done), buffer.done)
        connect(m, buffer.answers, engine.answers)
        connect(m, registers.doorbells, engine.doorbells)
        connect(m, mailbox.answers, engine.admin_answers)
        connect(m, mailbox.changes, engine.changes)
        connect(m, mailbox.settings, coalescer.settings)
        connect(m, engine.interrupts, coalescer.interrupts)
        of_admin = engine.entries.payload.queue == 0
        for unit, mine in ((mailbox, of_admin), (buffer, ~of_admin)):
            m.d.comb += unit.entries.payload.eq(engine.entries.payload)
            m.d.comb += unit.entries.valid.eq(engine.entries.valid & mine)
        exponent, busy = Signal.like(registers.page_exponent), Signal(init=1)
        idle = mailbox.idle & buffer.idle & walker.idle & port.idle
        # An entry is with the mailbox or the buffer a cycle after the engine may have come to rest.
        m.d.sync += busy.eq(~idle | engine.entries.valid | registers.messages.valid)
        with m.If(~self.running):
            m.d.sync += exponent.eq(registers.page_exponent)
        m.d.comb += [
            self.running.eq(engine.running | busy),
            self.attention.eq(mailbox.attention),
            engine.enable.eq(registers.enabled),
            engine.admin.eq(registers.admin),
            engine.weighted.eq(registers.weighted),
            engine.weights.eq(mailbox.weights),
            engine.taken[0].eq(mailbox.taken),
            engine.taken[1].eq(buffer.taken),
            buffer.enable.eq(registers.enabled),
            coalescer.enable.eq(registers.enabled),
            registers.fire.valid.eq(coalescer.fire.valid),
            registers.fire.payload.eq(coalescer.fire.payload),
            buffer.queue.eq(mailbox.queue),
            walker.page_exponent.eq(exponent),
            self.page_exponent.eq(exponent),
            registers.enable_vectors.eq(self.enable_vectors),
            registers.mask_vectors.eq(self.mask_vectors),
            registers.running.eq(self.running),
            registers.fail.eq(engine.failed | mailbox.fail),
            registers.fault.eq(self.fault),
            registers.ended.eq(mailbox.ended),
            mailbox.open.eq(buffer.open),
            mailbox.enabled.eq(registers.enabled),
            mailbox.page_exponent.eq(exponent),
            mailbox.shut_down.eq(registers.shut_down),
            mailbox.wrong_queue.eq(engine.wrong_queue),
            mailbox.wrong_value.eq(engine.wrong_value),
        ]
        return m
