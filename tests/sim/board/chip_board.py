# amaranth: UnusedElaboratable=no
"""A board with its pads' registers, whose chip is the independent SDR part (`tests/parts`)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from amaranth import Instance, Module, Mux, Signal
from amaranth.lib import wiring

from flashtrain.rtl.board.chip_pins import BoardPins
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.board.simulated_board import BOARD_PORTS
from flashtrain.sim.board.simulation import BoardSimulation
from flashtrain.spec.boards import Board
from tests.parts.sdr_sources import PART
from tests.sim.board.board import CHIP_BOARD

FASTEST_MODE = 5
"""SDR timing mode of the part."""
SECONDS = 20
"""For an answer of a simulation on a busy machine."""


class ChipBoard(wiring.Component):
    """`violations`: of times and of rules, and cycles without effect.

    A block of the part has a factory mark, if the board has spare blocks.
    """

    def __init__(self, board: Board):
        self.board = board
        super().__init__(BOARD_PORTS)

    def elaborate(self, platform):
        m = Module()
        m.submodules.pins = pins = SharedModule(BoardPins(self.board), "flashtrain_board_pins")
        bus, from_part, drives, ready = Signal(8), Signal(8), Signal(), Signal()
        counts = [Signal(32, name=name) for name in ("violations", "misuses", "ignored")]
        m.d.comb += [
            pins.locked.eq(1),
            pins.line_in.eq(self.line_in),
            self.line_out.eq(pins.line_out),
            bus.eq(Mux(pins.dq_t.any(), Mux(drives, from_part, 0xFF), pins.dq_o)),
            pins.dq_i.eq(bus),
            pins.rb_n.eq(ready),
            self.busy.eq(~ready),
            self.violations.eq(sum(counts)),
        ]
        g = self.board.config.geometry
        m.submodules.part = Instance(
            "sdr_part",
            p_PAGE_BYTES=g.page_bytes, p_SPARE_BYTES=g.spare_bytes, p_PAGES=g.pages,
            p_BLOCKS=g.blocks * g.planes, p_PLANES=g.planes, p_MAX_MODE=FASTEST_MODE, p_SEED=1, p_SCALE=20,
            p_BAD_BLOCKS=int(g.spare_blocks > 0),
            i_power=self.power, i_ce_n=pins.ce_n, i_cle=pins.cle, i_ale=pins.ale, i_we_n=pins.we_n,
            i_re_n=pins.re_n, i_wp_n=pins.wp_n, i_io_i=bus, o_io_o=from_part, o_io_oe=drives, o_rb_n=ready,
            i_others_drive=0, i_fail_program=self.fail[0], i_fail_erase=self.fail[1], i_wrong_bits=0,
            o_violations=counts[0], o_misuses=counts[1], o_ignored=counts[2],
        )  # fmt: skip
        return m


@contextmanager
def simulated(board: Board = CHIP_BOARD, gates: Sequence[Path] = ()) -> Iterator[BoardSimulation]:
    """The board with its serial line as a terminal; at the end its part has met no violation."""
    with BoardSimulation(board, terminal=True, design=ChipBoard, chips=PART, gates=gates) as simulation:
        yield simulation
        assert simulation.violations == 0
