"""A target with a stream for objects, and a file system of it."""

from collections.abc import Iterator

import pytest

from flashtrain.objects.filesystem import FlashFileSystem
from tests.nvme.helpers import Served, served
from tests.objects.helpers import connect


@pytest.fixture(scope="module")
def target() -> Iterator[Served]:
    """One for all tests of a module."""
    with served("small", node="objects") as running:
        yield running


@pytest.fixture(scope="module")
def client(target: Served) -> Iterator[FlashFileSystem]:
    """A client for all tests of a module."""
    one = connect(target)
    yield one
    one.close()


@pytest.fixture
def fs(client: FlashFileSystem) -> FlashFileSystem:
    """The client, with no object left by the test before."""
    if paths := client.ls("objects", detail=False):
        client.rm(paths, recursive=True)
    return client
