"""A simulated board behind its serial line: the driver in Python at the other end."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.bringup import bring_up
from flashtrain.host.serial import SerialLink
from flashtrain.sim.board.simulation import BoardSimulation
from tests.sim.board.board import BOARD
from tests.sim.board.chip_board import FASTEST_MODE, SECONDS, simulated


def appends_and_reads(simulation: BoardSimulation, seed: int, brought_up: bool) -> None:
    """Formatted, appended, read; then the power is lost, and the device recovered."""
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, 256, size, np.uint8) for size in (1, 512, 2500)]
    config = simulation.board.config
    with SerialLink(simulation.terminal, config, timeout=SECONDS, power=simulation.power_cycle) as link:
        if brought_up:
            (report,) = bring_up(link)
            assert report.error is None and report.mode == FASTEST_MODE
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


@pytest.mark.early
def test_an_independent_part(seed):
    """The part behind the pads' registers, brought up and used in SDR, at the times of the standard."""
    with simulated() as simulation:
        appends_and_reads(simulation, seed, brought_up=True)


@pytest.mark.long
def test_own_dies(seed):
    with BoardSimulation(BOARD, terminal=True) as simulation:
        appends_and_reads(simulation, seed, brought_up=False)
