"""The device of the tests of activations."""

from collections.abc import Iterator

import pytest

from flashtrain.host import Device, open_device


@pytest.fixture
def device() -> Iterator[Device]:
    with open_device("small") as opened:
        yield opened
