"""The processor of firmware: a small core of RISC-V with its memory, and both ports of a drive's firmware."""

from amaranth import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import ADDRESS_BITS

from .layouts import DWORD_BITS, Access

MAILBOX, REGISTERS, ATTENTION = 0x8, 0xC, 0xE
"""Bits 31 to 28 of addresses of the mailbox, of the controller's registers, of `attention`; 0: of memory."""

CORE = "picorv32"
"""The module of the core, which this tree does not have: that of the package pythondata-cpu-picorv32."""


class FirmwareProcessor(wiring.Component):
    """Runs firmware in RTL, beside `PcieController`.

    The core is PicoRV32 with multiplication and division, without compressed instructions and interrupts. It
    begins at address 0 of its memory. Accesses of the mailbox and of registers are of whole words.

    Latency: 2 cycles of an access of memory; that of the port, and 2 cycles, of the others.

    Parameters
    ----------
    image : what the memory holds after configuration
    memory_bytes : a power of two; the last of them are the stack's

    Members
    -------
    firmware : Out(stream(Access)), values : In(stream(32)), attention : In(1)   see `AdminMailbox`
    registers : Out(Axi4LiteSignature)   of the controller
    trap : Out(1)                        the core has stopped at an instruction that it cannot execute
    """

    def __init__(self, image: bytes, memory_bytes: int = 1 << 16):
        self.image, self.memory_bytes = image, memory_bytes
        super().__init__({
            "firmware": Out(stream.Signature(Access())),
            "values": In(stream.Signature(DWORD_BITS)),
            "attention": In(1),
            "registers": Out(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "trap": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        valid, ready = Signal(), Signal()
        address, word, strobes, found = Signal(32), Signal(32), Signal(4), Signal(32)
        m.submodules.core = Instance(
            CORE,
            p_ENABLE_COUNTERS=0, p_ENABLE_COUNTERS64=0, p_BARREL_SHIFTER=1, p_ENABLE_FAST_MUL=1,
            p_ENABLE_DIV=1,
            i_clk=ClockSignal(), i_resetn=~ResetSignal(), o_trap=self.trap, o_mem_valid=valid,
            i_mem_ready=ready, o_mem_addr=address, o_mem_wdata=word, o_mem_wstrb=strobes, i_mem_rdata=found,
            i_pcpi_wr=0, i_pcpi_rd=0, i_pcpi_wait=0, i_pcpi_ready=0, i_irq=0,
        )  # fmt: skip
        words = [int.from_bytes(self.image[at : at + 4], "little") for at in range(0, len(self.image), 4)]
        m.submodules.memory = memory = Memory(shape=32, depth=self.memory_bytes // 4, init=words)
        writer, reader = memory.write_port(granularity=8), memory.read_port()
        place, writes = address[2 : 2 + bits_for(self.memory_bytes // 4)], strobes.any()
        access, bus = self.firmware, self.registers
        to_write, to_ask = Signal(2), Signal()
        m.d.comb += [
            writer.addr.eq(place), writer.data.eq(word), reader.addr.eq(place),
            access.payload.write.eq(writes), access.payload.offset.eq(address[2:28]),
            access.payload.data.eq(word),
            bus.awaddr.eq(address), bus.araddr.eq(address), bus.wdata.eq(word), bus.wstrb.eq(~0),
            bus.awvalid.eq(to_write[0]), bus.wvalid.eq(to_write[1]), bus.arvalid.eq(to_ask),
        ]  # fmt: skip
        with m.FSM():
            with m.State("IDLE"), m.If(valid):
                with m.Switch(address[28:]):
                    with m.Case(0):
                        m.d.comb += writer.en.eq(strobes)
                        m.next = "MEMORY"
                    with m.Case(MAILBOX):
                        m.next = "ACCESS"
                    with m.Case(REGISTERS):
                        m.d.sync += [to_write.eq(writes.replicate(2)), to_ask.eq(~writes)]
                        m.next = "REGISTER"
                    with m.Default():
                        m.d.comb += [ready.eq(1), found.eq(self.attention)]
            with m.State("MEMORY"):
                m.d.comb += [ready.eq(1), found.eq(reader.data)]
                m.next = "IDLE"
            with m.State("ACCESS"):
                m.d.comb += access.valid.eq(1)
                with m.If(access.ready):
                    m.d.comb += ready.eq(writes)
                    m.next = "VALUE"
                    with m.If(writes):
                        m.next = "IDLE"
            with m.State("VALUE"):
                m.d.comb += [self.values.ready.eq(1), found.eq(self.values.payload)]
                with m.If(self.values.valid):
                    m.d.comb += ready.eq(1)
                    m.next = "IDLE"
            with m.State("REGISTER"):
                for bit, taken in enumerate((bus.awready, bus.wready)):
                    with m.If(taken):
                        m.d.sync += to_write[bit].eq(0)
                with m.If(bus.arready):
                    m.d.sync += to_ask.eq(0)
                m.d.comb += [bus.bready.eq(1), bus.rready.eq(1), found.eq(bus.rdata)]
                with m.If(bus.bvalid | bus.rvalid):
                    m.d.comb += ready.eq(1)
                    m.next = "IDLE"
        return m
