"""Watching a device at work: its clock at the moments at which a counter reaches a value."""

from collections.abc import Callable
from typing import NamedTuple

from flashtrain.host import Device
from flashtrain.spec.registers import (
    ChannelCounter,
    Counter,
    Register,
    channel_counter_register,
    counter_register,
)

from .measurement import BenchmarkError


class Moment(NamedTuple):
    """A counter had `reached` at clock `after`, and less before clock `before`."""

    reached: int
    before: int
    after: int


def pages_programmed(device: Device) -> int:
    """Pages programmed by all channels."""
    total = 0
    for channel in range(device.config.geometry.channels):
        device.link.write_register(Register.CHANNEL_SELECT, channel)
        total += device.link.read_register(channel_counter_register(ChannelCounter.PAGES_PROGRAMMED))
    return total


def pages_read(device: Device) -> int:
    """Pages moved to the tensor buffer."""
    return device.link.read_register(counter_register(Counter.PAGES_READ))


def appends_done(device: Device) -> int:
    """Appends and writes that were answered."""
    return device.link.read_register(counter_register(Counter.APPENDS))


def reads_done(device: Device) -> int:
    """Reads that were answered."""
    return device.link.read_register(counter_register(Counter.READS))


def run_until(
    device: Device, counter: Callable[[Device], int], target: int, step: int, patience: int
) -> Moment:
    """Let the device work, `step` clocks at a time, until `counter` has reached `target`.

    Raises `BenchmarkError` if that takes more than `patience` clocks.
    """
    give_up = device.clocks + patience
    before = device.clocks
    while (count := counter(device)) < target:
        if device.clocks > give_up:
            raise BenchmarkError(f"{counter.__name__} is {count} after {patience} clocks; expected {target}")
        before = device.clocks
        device.link.run(step)
    return Moment(count, before, device.clocks)
