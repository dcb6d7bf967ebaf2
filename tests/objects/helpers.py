"""Clients of a target in tests."""

from typing import Any

from flashtrain.objects.filesystem import FlashFileSystem
from tests.nvme.helpers import Served


def connect(target: Served, **options: Any) -> FlashFileSystem:
    """A client of its own, with a connection of its own."""
    host, port = target.address
    return FlashFileSystem(host, port, skip_instance_cache=True, **options)


LEASE = 0.02


def connect_after_kill(target: Served) -> FlashFileSystem:
    """A client that soon gives up others as dead, as there are none; its connection lives as long as ever."""
    one = connect(target)
    one.store.leases.seconds = LEASE
    return one


def kill(fs: FlashFileSystem, *open_files: Any) -> None:
    """End a client as the operating system ends a process that is killed: its sockets are closed."""
    host = fs.store._session._host
    if host is not None:
        host.close()
    fs._ended.detach()
    for file in open_files:
        file.discarded = True
        file.discard()


def url(target: Served, path: str) -> str:
    host, port = target.address
    return f"flash://{host}:{port}/{path}"
