"""The driver on a functional device `tiny`, formatted, with streams for optimizer state."""

from dataclasses import replace

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.spec import preset

from .driver import CDriver


@pytest.fixture
def link():
    with FunctionalLink(replace(preset("tiny"), fp8_state=True), 1 << 18) as opened:
        yield opened


@pytest.fixture
def driver(link):
    made = CDriver(link)
    made.do("ft_format", True)
    return made
