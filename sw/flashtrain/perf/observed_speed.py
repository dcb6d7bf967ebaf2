"""The costs of traces, waves and an image: the simulation's speed with each of them, against that without."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device
from flashtrain.spec import Port

from .append import STREAM
from .measurement import Measurement

Observe = Callable[[], AbstractContextManager[object]]
"""Begins an observation, which ends with the context."""

ROUNDS = 5


@dataclass
class Spent:
    """Cycles that were simulated, bytes that were appended, and the seconds of processor time for both."""

    cycles: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def of(self, device: Device, work: Callable[[], int]) -> None:
        """Add the work, which gives the bytes that it appends."""
        cycle, started = device.cycles, time.process_time()
        self.bytes += work()
        self.seconds += time.process_time() - started
        self.cycles += device.cycles - cycle

    @property
    def cycle_rate(self) -> float:
        return self.cycles / self.seconds

    @property
    def byte_rate(self) -> float:
        return self.bytes / self.seconds


def trace_speed(device: Device, recorded: Observe, quick: bool) -> Measurement:
    """Appends and reads in a recording and without one, by turns: the share of the speed that is left."""
    work = Transfer(device, device.config.geometry.zone_capacity // 8)
    work()
    without, within = _by_turns(device, work, recorded, 1 if quick else ROUNDS)
    return Measurement(
        value=100 * within.cycle_rate / without.cycle_rate,
        unit="%",
        cycles=without.cycles + within.cycles,
        note=f"{within.cycle_rate:,.0f} cycles/s of processor time while a trace is recorded,"
        f" {without.cycle_rate:,.0f} without one, in {without.cycles + within.cycles:,} cycles by turns",
    )


def wave_speed(device: Device, waves: Observe) -> Measurement:
    """Appends and reads outside of a window of waves and within it: the share of the speed that is left.

    A Link writes one window, so the two are not by turns.
    """
    work = Transfer(device, device.config.geometry.zone_capacity // 4)
    without, within = Spent(), Spent()
    without.of(device, work)
    with waves():
        within.of(device, work)
    return Measurement(
        value=100 * within.cycle_rate / without.cycle_rate,
        unit="%",
        cycles=without.cycles + within.cycles,
        note=f"{within.cycle_rate:,.0f} cycles/s of processor time in a window of VCD,"
        f" {without.cycle_rate:,.0f} outside of it",
    )


def image_speed(plain: Device, stored: Device, quick: bool) -> Measurement:
    """Appends in memory and to an image, and copies, by turns: bytes per second of processor time."""
    pages = plain.config.geometry.zone_capacity
    works = [Transfer(device, pages, reads=False) for device in (plain, stored)]
    spent = [Spent(), Spent()]
    copied = Spent()
    for _ in range(2 if quick else 2 * ROUNDS):
        for device, work, sum_of in zip((plain, stored), works, spent, strict=True):
            sum_of.of(device, work)
            # A zone is erased outside of the measurement: its cells return to the file system.
            work.stream.reset()
        copied.of(plain, works[0].copy)
    in_memory, in_image = spent
    return Measurement(
        value=in_image.byte_rate / 1e6,
        unit="MB/s",
        cycles=0,
        note=f"{in_image.bytes:,} bytes in all; {in_memory.byte_rate / 1e6:,.0f} MB/s without an image,"
        f" {copied.byte_rate / 1e6:,.0f} MB/s as a copy in memory",
    )


class Transfer:
    """Appends so many pages of random bytes, flushes, and reads them; without `reads` it reads nothing."""

    def __init__(self, device: Device, pages: int, reads: bool = True) -> None:
        self.stream = device.stream(STREAM, Port.CORE)
        self._reads = reads
        self._data: NDArray[np.uint8] = np.random.default_rng(1).integers(
            0, 256, pages * device.config.geometry.page_bytes, np.uint8
        )
        self._copied = np.zeros_like(self._data)

    def copy(self) -> int:
        """Copy the bytes in memory."""
        np.copyto(self._copied, self._data)
        return len(self._data)

    def __call__(self) -> int:
        stored = self.stream.append(self._data)
        self.stream.flush()
        if self._reads:
            self.stream.read(stored)
        return len(self._data)


def _by_turns(device: Device, work: Callable[[], int], observed: Observe, rounds: int) -> tuple[Spent, Spent]:
    """The work without and with an observation, so many times each."""
    without, within = Spent(), Spent()
    for _ in range(rounds):
        for observe, spent in ((nullcontext, without), (observed, within)):
            with observe():
                spent.of(device, work)
    return without, within
