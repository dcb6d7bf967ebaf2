"""The function on the bus of the machine of `flashtrain pcie`: in software, or the drive in RTL."""

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from flashtrain.host import Device
from flashtrain.nvme.pcie.function import Function
from flashtrain.nvme.pcie.memory import SharedMemory
from flashtrain.nvme.pcie.qemu import HostedFunction
from flashtrain.nvme.subsystem.command_trace import CommandTrace
from flashtrain.nvme.subsystem.namespaces import namespaces_of
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.spec import ConfigError, FlashtrainError, FmsConfig, NodeTable

from .command import configuration
from .console import Console, byte_count
from .device import check_format, device_for
from .links import LINKS

_OWN_MEMORY_BYTES = 4096
"""The drive in RTL uses that of the guest."""


class Served(Protocol):
    """A function without its machine.

    - function: for the guest's memory, in the event loop. The second argument gets an error.
    - lose_power: in the event loop; the function is back at once, as after a reset.
    - end: in the event loop, behind the machine.
    - trace: is set before `function`.
    """

    trace: CommandTrace | None

    def function(
        self, memory: SharedMemory, on_failure: Callable[[FlashtrainError], object]
    ) -> HostedFunction: ...

    async def lose_power(self) -> None: ...

    async def end(self) -> None: ...

    def summary(self) -> list[str]: ...


@contextmanager
def served(
    options: argparse.Namespace, node: NodeTable, settings: SubsystemSettings, console: Console
) -> Iterator[Served]:
    """The function of `--link`."""
    if options.link == "rtl":
        with _drive(options, node, settings, console) as drive:
            yield drive
        return
    with device_for(options, node, console) as device:
        yield _Software(device, settings, LINKS[options.link].timed, console)
        device.shutdown()


class _Software:
    """The function in software before a device."""

    def __init__(self, device: Device, settings: SubsystemSettings, timed: bool, console: Console) -> None:
        self._subsystem = Subsystem(device, settings, console.step, in_loop=not timed)
        self._function: Function | None = None
        self.trace: CommandTrace | None = None
        _say_namespaces(self._subsystem.namespaces.values(), console)

    def function(
        self, memory: SharedMemory, on_failure: Callable[[FlashtrainError], object]
    ) -> HostedFunction:
        self._subsystem.thread.start(asyncio.get_running_loop())
        self._subsystem.trace = self.trace
        self._function = Function(self._subsystem, memory)
        return self._function

    async def lose_power(self) -> None:
        if self._function is not None:
            await self._function.lose_power()

    async def end(self) -> None:
        self._subsystem.notices.end_window()
        await asyncio.sleep(0)
        self._subsystem.thread.stop()

    def summary(self) -> list[str]:
        traffic, refusals = self._subsystem.traffic, self._subsystem.refusals
        return [
            _sgls(traffic.sgls),
            _counts(traffic.reads, traffic.writes, refusals.count, refusals.repeated),
        ]


@contextmanager
def _drive(
    options: argparse.Namespace, node: NodeTable, settings: SubsystemSettings, console: Console
) -> Iterator["_Drive"]:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.sim.link.pcie_link import PcieLink
    from flashtrain.sim.link.pcie_model import PcieSizes

    if getattr(options, "image", None) is not None:
        raise ConfigError("--image: the drive in RTL begins empty; expected --link functional or model")
    check_format(options)
    config = configuration(options)
    sizes = PcieSizes.of(config, options.queues, options.entries)
    console.step(f"opening the drive of {config.name} in RTL")
    link = PcieLink(config, sizes, memory_bytes=_OWN_MEMORY_BYTES)
    try:
        yield _Drive(link, config, node, settings, console)
    finally:
        link.close()


class _Drive:
    """The drive in RTL, with its firmware."""

    def __init__(
        self, link, config: FmsConfig, node: NodeTable, settings: SubsystemSettings, console
    ) -> None:
        from flashtrain.firmware import firmware_tables

        self._link, self._clock_hz = link, config.timing.clock_hz
        self._function = None
        self.trace: CommandTrace | None = None
        serial = settings.serial or link.serial
        _say_namespaces(namespaces_of(config, node, serial).values(), console)
        sizes = link.sizes
        self._tables = firmware_tables(config, node, sizes.slots, sizes.most_bytes, settings, serial)

    def function(
        self, memory: SharedMemory, on_failure: Callable[[FlashtrainError], object]
    ) -> HostedFunction:
        from flashtrain.drive.rtl_function import RtlFunction
        from flashtrain.firmware import Firmware

        def firmware(mailbox, registers, pause):
            return Firmware(mailbox, registers, self._tables, pause)

        self._function = RtlFunction(self._link, memory, firmware, on_failure, self.trace)
        return self._function

    async def lose_power(self) -> None:
        raise ConfigError("the drive in RTL begins empty; expected no loss of its power")

    async def end(self) -> None:
        if self._function is not None:  # its firmware has started
            self._function.close()

    def summary(self) -> list[str]:
        log, cycles = self._function.log, self._link.cycles
        kinds = (("reads", log.reads), ("writes", log.writes), ("others", log.others), ("admin", log.admin))
        each = ", ".join(f"{name} {one.mean:,.0f}" for name, one in kinds if one.commands)
        commands = log.io.commands + log.admin.commands
        return [
            f"{cycles:,} cycles of the RTL, {cycles / self._clock_hz:.6f} s at"
            f" {self._clock_hz / 1e6:.0f} MHz; {commands} commands",
            f"mean cycles from the fetch of a command to its completion: {each or 'none'}",
            _sgls(log.sgls),
            _counts(log.reads.commands, log.writes.commands, log.refusals.count, log.refusals.repeated),
        ]


def _sgls(count: int) -> str:
    return f"{count} I/O commands with SGLs"


def _counts(reads: int, writes: int, refused: int, repeated: int) -> str:
    return f"{reads} reads, {writes} writes; {refused} commands refused, {repeated} of them sent again"


def _say_namespaces(namespaces, console: Console) -> None:
    for one in namespaces:
        size = byte_count(one.zones * one.zone_capacity * one.block_bytes)
        console.step(f"namespace {one.nsid}: stream {one.stream.name}, {size} in {one.zones} zones")
