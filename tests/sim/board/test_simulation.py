"""A simulated board behind its serial line: the driver in Python at the other end."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.bringup import bring_up
from flashtrain.host.serial import SerialLink
from flashtrain.sim.board.simulation import BoardSimulation
from tests.parts.sdr_sources import PART
from tests.sim.board.board import BOARD
from tests.sim.board.chip_board import FASTEST_MODE, ChipBoard

SECONDS = 20
"""For an answer of a simulation on a busy machine."""


@pytest.mark.early
def test_appends_and_reads(seed):
    """Over a pseudo-terminal: formatted, appended, read; then the power is lost, and the device recovered."""
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, 256, size, np.uint8) for size in (1, 512, 2500)]
    with BoardSimulation(BOARD, terminal=True) as simulation:
        link = SerialLink(simulation.terminal, BOARD.config, timeout=SECONDS, power=simulation.power_cycle)
        with link:
            with open_device(link=link, node="single", queue_entries=8) as device:
                stream = device.stream("trained")
                stored = [stream.append(array) for array in arrays]
                for array, handle in zip(arrays, stored, strict=True):
                    assert np.array_equal(stream.read(handle), array)
            link.power_cycle()
            with open_device(link=link, node="single", queue_entries=8, recover=True) as device:
                stream = device.stream("trained")
                for array, handle in zip(arrays, stored, strict=True):
                    again = stream.stored_at(handle.extents, array.shape, array.dtype)
                    assert np.array_equal(stream.read(again), array)
        assert 0 < link.cycles <= simulation.cycles
        simulation.check()


@pytest.mark.long
def test_bring_up_of_the_independent_part():
    """The pins of the chip behind the pads' registers, at the times of the standard."""
    board = replace(BOARD, config=replace(BOARD.config, port_delay=2))
    with BoardSimulation(board, design=ChipBoard, chips=PART) as simulation:
        with SerialLink(simulation.line, board.config, timeout=SECONDS) as link:
            (report,) = bring_up(link)
        assert report.error is None, report.error
        assert report.mode == FASTEST_MODE
        assert simulation.violations == 0
