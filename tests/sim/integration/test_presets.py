"""The export of every preset and option is lint-clean."""

import pytest

from flashtrain.sim.integration.package import export_designs, integration_package
from flashtrain.spec import PRESETS, preset

OPTIONS = [{}, {"system_mhz": 250.0}, {"phy": True}, {"system_mhz": 250.0, "phy": True}]


@pytest.mark.long
@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "two clocks", "phy", "both"])
def test_an_option(options, designs):
    integration_package(designs, **options).check()


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PRESETS if name != "tiny"])
def test_a_preset(name):
    integration_package(export_designs(preset(name))).check()
