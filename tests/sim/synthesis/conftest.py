"""Fixtures of the tests of synthesis."""

import pytest

from flashtrain.sim.synthesis import tools
from flashtrain.spec.errors import ToolError


@pytest.fixture
def yosys():
    """Yosys is installed."""
    _require(placing=False)


@pytest.fixture
def nextpnr():
    """Yosys and nextpnr are installed."""
    _require(placing=True)


def _require(placing):
    try:
        tools.versions(placing)
    except ToolError as error:
        pytest.skip(str(error))
