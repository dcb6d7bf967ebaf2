"""A target with the functional Link for a module's tests, which reset its streams."""

from collections.abc import Iterator

import pytest

from flashtrain.nvme.client.host import Host
from flashtrain.spec import ZoneAction
from tests.nvme.helpers import Served, served


@pytest.fixture(scope="module")
def target() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def host(target: Served) -> Iterator[Host]:
    """A host, with the stream empty."""
    with target.host() as one:
        one.manage(1, 0, ZoneAction.RESET, every=True)
        yield one
