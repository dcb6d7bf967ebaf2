"""A target with a stream for objects, and a file system of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileSystem

from flashtrain.objects.filesystem import FlashFileSystem
from tests.nvme.helpers import Served, served
from tests.objects.helpers import connect


@pytest.fixture(scope="module")
def target() -> Iterator[Served]:
    """One for all tests of a module."""
    with served("small", node="objects") as running:
        yield running


@pytest.fixture
def fs(target: Served) -> Iterator[FlashFileSystem]:
    """A client, with no object left by the test before."""
    one = connect(target)
    for path in one.ls("objects", detail=False):
        one.rm(path, recursive=True)
    yield one
    one.close()


@pytest.fixture
def local(tmp_path: Path) -> LocalFileSystem:
    return LocalFileSystem(auto_mkdir=True)
