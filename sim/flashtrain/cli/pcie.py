"""`flashtrain pcie`: the device as an NVMe function of an unmodified QEMU."""

import argparse
import asyncio
import os
import re
import signal
from pathlib import Path

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.pcie.qemu import DEVICE, machine_of, run_machine
from flashtrain.nvme.pcie.qemu import options as machine_options
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.qemu.debian import Unpacked
from flashtrain.qemu.emulator import PROGRAM, check_device, fetch_emulator, version
from flashtrain.spec import NODES, FlashtrainError

from .command import Command, configuration
from .console import Console
from .device import add_served_device
from .pcie_machine import Served, served

_MOST_QUEUES, _MOST_ENTRIES = 64, 1024
_MOST_MEMORY_MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_served_device(parser, "functional")
    parser.add_argument(
        "--serial", metavar="TEXT", help="serial number (default: that of the image, or a new one)"
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
    parser.add_argument(
        "--machine", metavar="TEXT", help="QEMU's option of this name (default: by the version of QEMU)"
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
    settings = SubsystemSettings(serial=options.serial, queues=options.queues, entries=options.entries)
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

    def command(proxy: int, qtest: int) -> list[str]:
        own = machine_options(machine, options.memory, proxy, qtest)
        return [str(program), *firmware, *own, *options.qemu_options]

    environment = {**os.environ, "LD_LIBRARY_PATH": emulator.library_path}
    with served(options, node, settings, console) as one:
        code = asyncio.run(_run(one, command, environment))
        for line in one.summary():
            console.step(line)
    if code:
        raise ServeError(f"QEMU has ended with code {code}")
    return 0


def _emulator(chosen: Path | None, console: Console) -> tuple[Unpacked, Path]:
    if chosen is None:
        emulator = fetch_emulator(console.step)
        return emulator, emulator.program(PROGRAM)
    if not (chosen.is_file() and os.access(chosen, os.X_OK)):
        raise ServeError(f"{chosen}: no program; expected QEMU, such as {PROGRAM}")
    return Unpacked(Path("/")), chosen


async def _run(one: Served, command, environment) -> int:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    failures: list[FlashtrainError] = []

    def fail(error: FlashtrainError) -> None:
        failures.append(error)
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        code = await run_machine(command, environment, lambda memory: one.function(memory, fail), ended)
    finally:
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
an image keeps it.
""",
    add_arguments=add_arguments,
    run=run,
)
