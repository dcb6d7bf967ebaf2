# amaranth: UnusedElaboratable=no
"""A bench top: the serial bridge in front of a tensor buffer with the bench's AXI ports, and the start-up."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.board.bridge import SerialBridge
from flashtrain.rtl.board.buffer_memory import BufferMemory
from flashtrain.rtl.board.chip_pins import StartUp
from flashtrain.rtl.lib.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.spec.registers import ADDRESS_BITS

BUFFER_BYTES, DIVISOR, CLOCK_HZ, AXI_BITS = 8192, 4, 500_000_000, 20


class BridgeTop(wiring.Component):
    """Members: the line, `registers` and `irq` of the bridge; `data` and `queue` of the tensor buffer; those
    of `StartUp`."""

    def __init__(self):
        super().__init__({
            "line_in": In(1),
            "line_out": Out(1),
            "irq": In(1),
            "locked": In(1),
            "reset": Out(1),
            "wp_n": Out(1),
            "registers": Out(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "data": In(Axi4Signature(address_bits=AXI_BITS, data_bits=16)),
            "queue": In(Axi4Signature(address_bits=AXI_BITS, data_bits=64)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.bridge = bridge = SerialBridge(
            divisor=DIVISOR, buffer_bytes=BUFFER_BYTES, clock_hz=CLOCK_HZ
        )
        m.submodules.buffer = buffer = BufferMemory(BUFFER_BYTES, address_bits=AXI_BITS, data_bits=16)
        m.submodules.start_up = start_up = StartUp()
        connect(m, bridge.buffer, buffer.bridge)
        connect(m, bridge.registers, flipped(self.registers))
        connect(m, flipped(self.data), buffer.data)
        connect(m, flipped(self.queue), buffer.queue)
        m.d.comb += [
            start_up.locked.eq(self.locked),
            self.reset.eq(start_up.reset),
            self.wp_n.eq(start_up.wp_n),
            bridge.line_in.eq(self.line_in),
            self.line_out.eq(bridge.line_out),
            bridge.irq.eq(self.irq),
            bridge.changed.eq(buffer.changed),
            buffer.forget.eq(bridge.forget),
        ]
        return m
