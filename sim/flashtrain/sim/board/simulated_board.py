"""The design of a simulated board: `BoardCore`, with dies on its pins."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.board.board import BoardCore
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.nand import NandChannel
from flashtrain.spec.boards import Board

BOARD_PORTS = {
    "line_in": In(1),
    "line_out": Out(1),
    "power": In(1),
    "fail": In(2),
    "busy": Out(1),
    "violations": Out(32),
}
"""Of any design that `BoardSimulation` runs."""


class SimulatedBoard(wiring.Component):
    """A board with this project's dies.

    Members
    -------
    line_in, line_out : In(1), Out(1)   the serial line, high at rest
    power : In(1)                       low: the chips lose their power; these dies need none
    fail : In(2)                        programs, and erases, fail when they end; those of these dies do not
    busy : Out(1)                       a chip is busy; low with these dies
    violations : Out(32)                breaches of the NAND protocol so far
    """

    def __init__(self, board: Board):
        self.board = board
        super().__init__(BOARD_PORTS)

    def elaborate(self, platform):
        m = Module()
        m.submodules.core = core = SharedModule(BoardCore(self.board), "flashtrain_board")
        m.d.comb += [core.line_in.eq(self.line_in), self.line_out.eq(core.line_out)]
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)
        nand = NandChannel(self.board.config)
        violations = 0
        for number, pins in enumerate(core.nand):
            m.submodules[f"nand_{number}"] = channel = SharedModule(nand, "flashtrain_nand_channel")
            connect(m, pins, channel.bus)
            m.d.comb += [channel.cycle.eq(cycle), channel.channel.eq(number)]
            violations += channel.violations
        m.d.comb += self.violations.eq(violations)
        return m
