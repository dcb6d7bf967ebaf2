"""Faults behind a simulated board: failed programs and erases, factory marks, a line that ends."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import numpy as np
import pytest

from flashtrain.host import Device, MediaError, open_device
from flashtrain.host.bringup import bring_up
from flashtrain.host.serial import SerialLink, WireDropped
from flashtrain.sim.board.simulation import BoardSimulation
from flashtrain.spec import Status, ZoneState
from flashtrain.spec.boards import Board
from flashtrain.spec.registers import ChannelCounter
from tests.sim.board.board import CHIP_BOARD, MARKED_BOARD
from tests.sim.board.chip_board import SECONDS, simulated


@contextmanager
def linked(board: Board) -> Iterator[tuple[BoardSimulation, SerialLink]]:
    with simulated(board) as simulation:
        assert simulation.terminal is not None
        with SerialLink(
            simulation.terminal, board.config, timeout=SECONDS, power=simulation.power_cycle
        ) as link:
            yield simulation, link


def opened(link: SerialLink, recover: bool = False) -> Device:
    return open_device(link=link, node="single", queue_entries=8, recover=recover)


def failures(device: Device) -> int:
    """Programs and erases that have failed."""
    return sum(channel[ChannelCounter.FAILURES.name] for channel in device.channel_counters())


def test_failed_programs_and_erases(seed):
    """The append ends with a write fault, the block that was not erased is passed over; all else is there."""
    rng = np.random.default_rng(seed)
    before, lost, after = (rng.integers(0, 256, size, np.uint8) for size in (700, 1200, 900))
    with linked(CHIP_BOARD) as (board, link):
        with opened(link) as device:
            stream = device.stream("trained")
            stored = [(stream.append(before), before)]
            board.fail_next(program=True)
            with pytest.raises(MediaError) as caught:
                stream.append(lost)
            assert caught.value.status == Status.WRITE_FAULT and failures(device)
            assert stream.report()[0].state is ZoneState.READ_ONLY
            stored.append((stream.append(after), after))

            other, failed = device.stream("weights"), failures(device)
            other.append(lost)
            other.flush()
            board.fail_next(erase=True)
            other.reset()
            device.wait()
            for _ in range(3):
                other.append(lost)
            assert failures(device) > failed
            for handle, array in stored:
                assert np.array_equal(stream.read(handle), array)


@pytest.mark.long
def test_factory_marks(seed):
    """A chip with a bad block is brought up, formatted and filled; no operation meets that block.

    A program that fails then takes the last spare block, and both are found after a loss of power.
    """
    rng = np.random.default_rng(seed)
    page = MARKED_BOARD.config.geometry.page_bytes
    with linked(MARKED_BOARD) as (board, link):
        (report,) = bring_up(link)
        assert report.error is None
        with opened(link) as device:
            (bad,) = device.bad_blocks
            stored = {}
            for name in ("trained", "activations", "weights"):
                stream = device.stream(name)
                for _ in range(stream.zones * stream.report()[0].capacity):
                    array = rng.integers(0, 256, page, np.uint8)
                    stored[stream.append(array)] = (name, array)
                stream.flush()
            assert failures(device) == 0
            for handle, (name, array) in stored.items():
                assert np.array_equal(device.stream(name).read(handle), array)

            stream = device.stream("trained")
            stream.reset()
            stream.append(array)  # the zone is erased
            board.fail_next(program=True)
            array = rng.integers(0, 256, page, np.uint8)
            handle = stream.append(array)
            assert failures(device) == 1
            assert np.array_equal(stream.read(handle), array)
        link.power_cycle()
        with opened(link, recover=True) as device:
            assert device.bad_blocks == (bad,)
            assert device.recovered is not None
            assert device.recovered.spares == 1  # the other one has pages of no kept zone
            stream = device.stream("trained")
            assert np.array_equal(stream.read(stream.stored_at(handle.extents, (page,), np.uint8)), array)


def test_the_line_ends_in_bring_up(seed):
    with linked(CHIP_BOARD) as (board, link):
        board.cut_power(1 + Random(seed).randrange(250_000))
        begun = time.monotonic()
        with pytest.raises(WireDropped, match="the line"):
            bring_up(link)
        assert time.monotonic() - begun < SECONDS
        board.restore_power()
