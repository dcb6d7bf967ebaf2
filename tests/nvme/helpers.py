"""A target in a thread of its own, and hosts for it."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from flashtrain.host import Device, open_device
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import Settings
from flashtrain.spec import NodeTable
from flashtrain.spec.nvme import ZoneDescriptor

BLOCK = 4096
ZONE = 2048
"""Blocks of a zone of `small`."""


class Served:
    """A running target. `log` has what it said."""

    def __init__(self, target: Target, loop: asyncio.AbstractEventLoop, log: list[str]) -> None:
        self.target, self.log = target, log
        self._loop = loop

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.target.port

    def host(self, **options: Any) -> Host:
        return Host(self.address, options.pop("subsystem", DEFAULT_NQN), **options)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Await something in the target's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def connections(self) -> int:
        async def count() -> int:
            return self.target.connections

        return self.run(count())


@contextmanager
def serving(device: Device, **settings: Any) -> Iterator[Served]:
    """Serve a device on any port until the end of the block."""
    log: list[str] = []
    ready, ended = threading.Event(), threading.Event()
    found: list[Served] = []

    async def serve() -> None:
        async with Target(device, Settings(port=0, **settings), log.append) as target:
            found.append(Served(target, asyncio.get_running_loop(), log))
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield found[0]
    finally:
        ended.set()
        thread.join()


@contextmanager
def served(
    preset: str = "small", node: str | NodeTable = "serve", link: Any = "functional", **settings: Any
) -> Iterator[Served]:
    """Serve a new device."""
    with open_device(preset, link, node) as device, serving(device, **settings) as running:
        yield running


def zones(
    host: Host, nsid: int = 1, lba: int = 0, count: int = 30, option: int = 0
) -> list[tuple[int, int, int]]:
    """State, start and write pointer of the zones of a report."""
    raw = host.report(nsid, lba, 64 * (count + 1), option)
    number = int.from_bytes(raw[:8], "little")
    found = []
    for place in range(64, 64 * (1 + min(number, count)), 64):
        value = int.from_bytes(raw[place : place + 64], "little")
        d = ZoneDescriptor
        found.append((d.state.get(value), d.start.get(value), d.write_pointer.get(value)))
    return found
