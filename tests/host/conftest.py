"""The device of most tests: `tiny` on the functional Link, with streams for optimizer state."""

import pytest

from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE


@pytest.fixture
def link():
    with FunctionalLink(preset("tiny"), 1 << 18) as opened:
        yield opened


@pytest.fixture
def device(link):
    with open_device(link=link, node=UPDATE_NODE) as opened:
        yield opened
