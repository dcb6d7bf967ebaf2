"""The bus of the processor of firmware: its memory, and both ports of a drive's firmware."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import ADDRESS_BITS

from .layouts import DWORD_BITS, OFFSET_BITS, Access

MAILBOX, REGISTERS, ATTENTION = 0x8, 0xC, 0xE
"""Bits 31 to 28 of addresses of the mailbox, of the controller's registers, of `attention`; 0: of memory."""


PORTS = {
    "firmware": Out(stream.Signature(Access())),
    "values": In(stream.Signature(DWORD_BITS)),
    "attention": In(1),
    "registers": Out(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
}
"""Members of who has the firmware."""


class FirmwareBus(wiring.Component):
    """Serves the accesses of a core, one at a time: bytes of a memory, and words of the two ports.

    An access lasts from `valid` until `ready`, and is a write where a strobe is on. Of the ports and of
    `attention` it is of a whole word.

    Latency: 1 cycle of an access of memory, none of `attention`; of the others 1 and that of the port.

    Parameters
    ----------
    image : what the memory holds after configuration
    memory_bytes : a power of two

    Members
    -------
    valid, address, word, strobes : In, ready, found : Out   the access; `found` counts with `ready`
    firmware : Out(stream(Access)), values : In(stream(32)), attention : In(1)   see `AdminMailbox`
    registers : Out(Axi4LiteSignature)   of the controller
    """

    def __init__(self, image: bytes, memory_bytes: int = 1 << 16):
        self.image, self.memory_bytes = image, memory_bytes
        super().__init__({
            "valid": In(1),
            "address": In(32),
            "word": In(DWORD_BITS),
            "strobes": In(4),
            "ready": Out(1),
            "found": Out(DWORD_BITS),
            **PORTS,
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        valid, address, word, strobes = self.valid, self.address, self.word, self.strobes
        ready, found = self.ready, self.found
        words = [int.from_bytes(self.image[at : at + 4], "little") for at in range(0, len(self.image), 4)]
        sizes = {"shape": 32, "depth": self.memory_bytes // 4}
        m.submodules.memory = memory = Memory(**sizes, init=words, attrs=NEVER_COLLIDES)
        writer, reader = memory.write_port(granularity=8), memory.read_port()
        place, writes = address[2 : 2 + bits_for(self.memory_bytes // 4)], strobes.any()
        access, bus = self.firmware, self.registers
        to_write, to_ask = Signal(2), Signal()
        m.d.comb += [
            writer.addr.eq(place), writer.data.eq(word), reader.addr.eq(place),
            access.payload.write.eq(writes), access.payload.offset.eq(address[2 : 2 + OFFSET_BITS]),
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
