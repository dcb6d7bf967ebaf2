"""The export of every preset and option is lint-clean."""

import pytest

from flashtrain.sim.integration.package import export_designs, integration_package
from flashtrain.spec import PRESETS, preset


@pytest.mark.long
@pytest.mark.parametrize("phy", [False, True], ids=["pins", "phy"])
@pytest.mark.parametrize("name", ["designs", "two_clocks"])
def test_an_option(name, phy, request):
    """Of `tiny`."""
    integration_package(request.getfixturevalue(name), phy).check()


@pytest.mark.long
@pytest.mark.parametrize("system_mhz", [None, 250.0], ids=["one clock", "two clocks"])
@pytest.mark.parametrize("name", [name for name in PRESETS if name != "tiny"])
def test_a_preset(name, system_mhz):
    integration_package(export_designs(preset(name), system_mhz)).check()
