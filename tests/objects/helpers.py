"""Clients of a target in tests."""

from typing import Any

from flashtrain.objects.filesystem import FlashFileSystem
from tests.nvme.helpers import Served


def connect(target: Served, **options: Any) -> FlashFileSystem:
    """A client of its own, with a connection of its own."""
    host, port = target.address
    return FlashFileSystem(host, port, skip_instance_cache=True, **options)


def url(target: Served, path: str) -> str:
    host, port = target.address
    return f"flash://{host}:{port}/{path}"
