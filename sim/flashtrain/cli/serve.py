"""`flashtrain serve`: the device as a target of NVMe over TCP."""

import argparse
import asyncio
import contextlib
import re
import signal
from pathlib import Path

from flashtrain.host import Device
from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import DEFAULT_PORT, LOOPBACK, Settings
from flashtrain.nvme.wire.dhchap import parse_secret
from flashtrain.reading import read_text
from flashtrain.reading.limits import MOST_SECRET_BYTES
from flashtrain.spec import NODES

from .command import Command, above_zero, configuration
from .console import Console, byte_count
from .device import add_served_device, device_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_served_device(parser, "rtl")
    parser.add_argument(
        "--address", default=LOOPBACK, metavar="IP",
        help=f"where it listens; all others than the default are open to the network (default: {LOOPBACK})",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, metavar="N", help=f"0: any (default: {DEFAULT_PORT})"
    )
    parser.add_argument("--nqn", default=DEFAULT_NQN, metavar="NQN", help="name of the subsystem")
    parser.add_argument(
        "--serial", metavar="TEXT",
        help="serial number, from which hosts derive the identity (default: that of the image, or a new one)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", action="append", metavar="NQN",
        help="a host that may connect; may be given more than once (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--dhchap-secret", type=Path, metavar="FILE",
        help="file with the secret that each host must prove to have, as `nvme gen-dhchap-key` prints it",
    )  # fmt: skip
    parser.add_argument(
        "--seconds",
        type=above_zero,
        metavar="S",
        help="end after so many seconds (default: when interrupted)",
    )


def _port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 0xFFFF:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


def _secret(path: Path) -> str:
    """The secret in a file; :class:`ServeError` if there is none."""
    text = read_text(path, MOST_SECRET_BYTES).strip()
    try:
        parse_secret(text, DEFAULT_NQN)
    except ServeError as error:
        raise ServeError(f"{path}: {error}") from None
    return text


def run(options: argparse.Namespace, console: Console) -> int:
    settings = Settings(
        nqn=options.nqn,
        serial=options.serial,
        address=options.address,
        port=options.port,
        hosts=None if options.allow_host is None else frozenset(options.allow_host),
        secret=None if options.dhchap_secret is None else _secret(options.dhchap_secret),
    )
    node = NODES[options.node]
    console.step(f"preset {configuration(options).name}, link {options.link}, node {node.name}")
    with device_for(options, node, console) as device:
        asyncio.run(_serve(device, settings, options.seconds, console))
        device.shutdown()
    return 0


async def _serve(device: Device, settings: Settings, seconds: float | None, console: Console) -> None:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    async with Target(device, settings, console.step) as target:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        losses: set[asyncio.Task[None]] = set()

        def lose_power() -> None:
            console.step("loss of power")
            task = loop.create_task(target.lose_power())
            losses.add(task)
            task.add_done_callback(recovered)

        def recovered(task: asyncio.Task[None]) -> None:
            losses.discard(task)
            if not task.cancelled() and task.exception() is None:  # else the target has said why
                console.step("recovered")

        loop.add_signal_handler(signal.SIGUSR1, lose_power)
        for one in target.subsystem.namespaces.values():
            size = byte_count(one.zones * one.zone_capacity * one.block_bytes)
            console.step(f"namespace {one.nsid}: stream {one.stream.name}, {size} in {one.zones} zones")
        reach = "this machine only" if settings.is_local else "the network, without encryption"
        console.step(
            f"listening on {settings.address}:{target.port}, open to {reach}; subsystem {settings.nqn}"
        )
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), seconds)
        traffic, refusals = target.subsystem.traffic, target.subsystem.refusals
        console.step(
            f"{traffic.reads} reads, {traffic.writes} writes; {refusals.count} commands refused,"
            f" {refusals.repeated} of them sent again"
        )


COMMAND = Command(
    examples="""\
  flashtrain serve                                    small, through the RTL, for hosts of this machine
  flashtrain serve --link functional --preset behemoth
  flashtrain serve --image flash.img                  what Linux writes is there in the next run
  flashtrain serve --node objects --image flash.img   objects by URL (docs/objects.md)
  flashtrain serve --allow-host nqn.2014-08.org.example:host
  nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2025-01.example.flashtrain:device

SIGUSR1 is a loss of power: the connections end, and the device recovers. The device ends in order with
SIGINT or SIGTERM. Its content ends with it, unless an image keeps it.
""",
    add_arguments=add_arguments,
    run=run,
)
