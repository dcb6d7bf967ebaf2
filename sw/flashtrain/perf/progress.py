"""Runs a device until a counter reaches a value, and records the cycle."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from flashtrain.host.link import Link
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import (
    ChannelCounter,
    Counter,
    Register,
    channel_counter_register,
    counter_register,
)

from .measurement import BenchmarkError


class CountingDevice(Protocol):
    """A controller with its counters: of a device, or behind a function on PCI Express."""

    @property
    def config(self) -> FmsConfig: ...

    @property
    def link(self) -> Link: ...

    @property
    def cycles(self) -> int: ...


class Moment(NamedTuple):
    """A counter had `reached` at cycle `after`, and less before cycle `before`."""

    reached: int
    before: int
    after: int


def pages_programmed(device: CountingDevice) -> int:
    """Pages programmed by all channels."""
    total = 0
    for channel in range(device.config.geometry.channels):
        device.link.write_register(Register.CHANNEL_SELECT, channel)
        total += device.link.read_register(channel_counter_register(ChannelCounter.PAGES_PROGRAMMED))
    return total


def pages_read(device: CountingDevice) -> int:
    """Pages moved to the tensor buffer."""
    return device.link.read_register(counter_register(Counter.PAGES_READ))


def appends_done(device: CountingDevice) -> int:
    """Appends and writes that were answered."""
    return device.link.read_register(counter_register(Counter.APPENDS))


def reads_done(device: CountingDevice) -> int:
    """Reads that were answered."""
    return device.link.read_register(counter_register(Counter.READS))


def run_until(
    device: CountingDevice, counter: Callable[[CountingDevice], int], target: int, step: int, most_cycles: int
) -> Moment:
    """Let the device work, `step` cycles at a time, until `counter` has reached `target`.

    Raises `BenchmarkError` if that takes more than `most_cycles` cycles.
    """
    end = device.cycles + most_cycles
    before = device.cycles
    while (count := counter(device)) < target:
        if device.cycles > end:
            raise BenchmarkError(
                f"{counter.__name__} is {count} after {most_cycles} cycles; expected {target}"
            )
        before = device.cycles
        device.link.run(step)
    return Moment(count, before, device.cycles)
