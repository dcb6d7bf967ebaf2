"""The board's netlist, as it is placed, passes the test of the board."""

import pytest

from flashtrain.rtl.board.chip_pins import BoardPins
from flashtrain.sim.synthesis.gate_level import gate_level
from tests.sim.board.board import CHIP_BOARD
from tests.sim.board.chip_board import simulated
from tests.sim.board.test_simulation import appends_and_reads


@pytest.mark.long
def test_an_independent_part(seed):
    """The cells of an ECP5 between pads and serial line, with the part of `test_simulation`."""
    gates = gate_level(BoardPins(CHIP_BOARD), "flashtrain_board_pins")
    with simulated(gates=gates) as simulation:
        appends_and_reads(simulation, seed, brought_up=True)
