"""`flashtrain pcie`: the device as an NVMe function of an unmodified QEMU."""

import argparse
import asyncio
import os
import re
import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.pcie.qemu import DEVICE, Proxy, machine_of, run_machine
from flashtrain.nvme.pcie.qemu import options as machine_options
from flashtrain.nvme.subsystem.command_trace import HEADER, CommandTrace
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN, SubsystemSettings
from flashtrain.qemu.debian import Unpacked
from flashtrain.qemu.emulator import PROGRAM, check_device, fetch_emulator, version
from flashtrain.spec import NODES, FlashtrainError
from flashtrain.writing import replacing

from .command import Command, configuration
from .console import Console
from .device import add_served_device
from .outputs import output_file
from .pcie_machine import Served, served

_MOST_QUEUES, _MOST_ENTRIES = 64, 1024
_MOST_MEMORY_MIB = 1 << 20
_MOST_DRIVES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_served_device(parser, "functional")
    parser.add_argument(
        "--serial", metavar="TEXT", help="serial number (default: of the image, or a new one)"
    )
    parser.add_argument(
        "--queues", type=_number(1, _MOST_QUEUES), default=8, metavar="N",
        help=f"I/O queue pairs, from 1 to {_MOST_QUEUES} (default: 8)",
    )  # fmt: skip
    parser.add_argument(
        "--entries", type=_number(2, _MOST_ENTRIES), default=_MOST_ENTRIES, metavar="N",
        help=f"of a queue, at most (default: {_MOST_ENTRIES})",
    )  # fmt: skip
    parser.add_argument(
        "--memory", type=_number(64, _MOST_MEMORY_MIB), default=512, metavar="MIB",
        help="memory of the machine (default: 512)",
    )  # fmt: skip
    parser.add_argument(
        "--qemu", type=Path, metavar="FILE", help="the emulator (default: that of Debian's packages)"
    )
    parser.add_argument("--machine", metavar="TEXT", help="QEMU's option (default: by its version)")
    parser.add_argument(
        "--drives", type=_number(1, _MOST_DRIVES), default=1, metavar="N",
        help=f"functions, each a device, from 1 to {_MOST_DRIVES} (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--trace", type=output_file, metavar="FILE", help="write each I/O command to this file (CSV)"
    )
    parser.add_argument("qemu_options", nargs="*", metavar="OPTION", help="options for QEMU, behind '--'")


def _number(least: int, most: int):
    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"expected a number from {least} to {most}, got {text!r}")
        return int(text)

    return parse


def run(options: argparse.Namespace, console: Console) -> int:
    if not options.qemu_options:
        raise ServeError("no options for QEMU; expected some behind '--', such as -- -kernel FILE -nographic")
    if options.drives > 1 and options.image is not None:
        raise ServeError(f"--image with {options.drives} drives; expected one drive for the file")
    settings = [_settings(options, number) for number in range(1, options.drives + 1)]
    name = configuration(options).name
    emulator, program = _emulator(options.qemu, console)
    found = version(emulator, program)
    check_device(emulator, DEVICE, program)
    machine = options.machine or machine_of(found)
    node = NODES[options.node]
    console.step(f"preset {name}, link {options.link}, node {node.name}")
    console.step(f"QEMU {found}, machine {machine.partition(',')[0]}")

    firmware: list[str] = []
    if options.qemu is None:
        data = emulator.root / "usr/share"
        firmware = ["-L", str(data / "qemu"), "-L", str(data / "seabios")]

    def command(proxies: Sequence[int], qtest: int) -> list[str]:
        own = machine_options(machine, options.memory, proxies, qtest)
        return [str(program), *firmware, *own, *options.qemu_options]

    environment = {**os.environ, "LD_LIBRARY_PATH": emulator.library_path}
    with ExitStack() as stack:
        drives = [stack.enter_context(served(options, node, one, console)) for one in settings]
        if options.trace is not None:
            file = stack.enter_context(replacing(options.trace))
            file.write(HEADER)
            for number, one in enumerate(drives, 1):
                one.trace = CommandTrace(file, number, lambda: time.monotonic_ns() // 1000)
        code = asyncio.run(_run(drives, command, environment, console))
        for one in drives:
            for line in one.summary():
                console.step(line)
    if code:
        raise ServeError(f"QEMU has ended with code {code}")
    return 0


def _settings(options: argparse.Namespace, number: int) -> SubsystemSettings:
    """The settings of a drive, counted from 1. Others than the first have names of their own."""
    nqn, serial = DEFAULT_NQN, options.serial
    if number > 1:
        nqn, serial = f"{nqn}-{number}", serial and f"{serial}-{number}"
    return SubsystemSettings(nqn, serial, options.queues, options.entries)


def _emulator(chosen: Path | None, console: Console) -> tuple[Unpacked, Path]:
    if chosen is None:
        emulator = fetch_emulator(console.step)
        return emulator, emulator.program(PROGRAM)
    if not (chosen.is_file() and os.access(chosen, os.X_OK)):
        raise ServeError(f"{chosen}: no program; expected QEMU, such as {PROGRAM}")
    return Unpacked(Path("/")), chosen


async def _run(drives: Sequence[Served], command, environment, console: Console) -> int:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    losses: set[asyncio.Task[None]] = set()
    proxies: list[Proxy] = []
    failures: list[FlashtrainError] = []

    def fail(error: FlashtrainError) -> None:
        failures.append(error)
        ended.set()

    async def lose_power() -> None:
        console.step("loss of power")
        try:
            await asyncio.gather(*(one.lose_power() for one in drives))
        except FlashtrainError as error:
            console.step(f"no recovery: {error}")
        else:
            console.step("recovered")

    def begin_loss() -> None:
        task = loop.create_task(lose_power())
        losses.add(task)
        task.add_done_callback(losses.discard)

    def pull_out() -> None:
        if proxies:
            console.step(f"drive {len(proxies)} is pulled out")
            proxies[-1].pull_out()

    loop.add_signal_handler(signal.SIGUSR1, begin_loss)
    loop.add_signal_handler(signal.SIGUSR2, pull_out)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    makes = [partial(one.function, on_failure=fail) for one in drives]
    try:
        code = await run_machine(command, environment, makes, ended, proxies.extend)
    finally:
        for one in drives:
            await one.end()
    if failures:
        raise failures[0]
    return 0 if ended.is_set() else code


COMMAND = Command(
    examples="""\
  flashtrain pcie --preset behemoth -- -nographic -serial mon:stdio -kernel vmlinuz -initrd initrd.img \\
      -append 'console=ttyS0 root=/dev/ram0'        a Linux of yours; the disk is /dev/nvme0n1
  flashtrain pcie --image flash.img -- ...          what the guest writes is there in the next run
  make linux-pcie                                   Debian's Linux, with tests of the disk (docs/pcie.md)

The emulation has one thread, and no KVM. The function goes with the machine; its content ends with it, unless
an image keeps it. SIGUSR1 is a loss of power, after which the drives recover. SIGUSR2 pulls the last one out.
""",
    add_arguments=add_arguments,
    run=run,
)
