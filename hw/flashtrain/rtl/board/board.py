"""A board's design but for its pads and clock: controller, buffer memory and serial bridge."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec.boards import Board

from .bridge import SerialBridge
from .buffer_memory import BufferMemory


class BoardCore(wiring.Component):
    """The controller, with its tensor buffer in block memory and a serial line.

    Members
    -------
    line_in, line_out : In(1), Out(1)   the serial line, high at rest
    irq : Out(1)                        that of the controller
    nand : Out(NandBus).array(C)        the channels' pins
    """

    def __init__(self, board: Board):
        self.board = board
        config = board.config
        super().__init__({
            "line_in": In(1, init=1),  # pyright: ignore[reportCallIssue]
            "line_out": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            "irq": Out(1),
            "nand": Out(nand_bus(config)).array(config.geometry.channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        board = self.board
        m.submodules.controller = controller = SharedModule(Controller(board.config), "flashtrain")
        m.submodules.buffer = buffer = BufferMemory(
            board.buffer_bytes,
            address_bits=board.config.address_bits,
            data_bits=8 * board.config.data_bytes,
        )
        m.submodules.bridge = bridge = SerialBridge(
            divisor=board.divisor, buffer_bytes=board.buffer_bytes, clock_hz=board.clock_hz
        )
        connect(m, controller.data, buffer.data)
        connect(m, controller.queue, buffer.queue)
        connect(m, bridge.registers, controller.registers)
        connect(m, bridge.buffer, buffer.bridge)
        m.d.comb += [
            bridge.line_in.eq(self.line_in),
            self.line_out.eq(bridge.line_out),
            bridge.irq.eq(controller.irq),
            bridge.changed.eq(buffer.changed),
            buffer.forget.eq(bridge.forget),
            self.irq.eq(controller.irq),
        ]
        for outside, inside in zip(self.nand, controller.nand, strict=True):
            connect(m, inside, flipped(outside))
        return m
