"""The export of every preset and option is lint-clean."""

from dataclasses import replace

import pytest

from flashtrain.sim.integration.package import export_designs, integration_package
from flashtrain.spec import PRESETS, Chips, ConfigError, preset


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


@pytest.mark.long
def test_a_command_port(with_port):
    """Its pins and crossings, of `tiny` with two clocks."""
    package = integration_package(with_port)
    package.check()
    for pin in ("sdr", "we_n", "re_n", "dq_oe"):
        assert f"nand1_{pin}" in package.texts["rtl/flashtrain_axi.sv"]


@pytest.mark.long
@pytest.mark.parametrize("phy", [False, True], ids=["pins", "phy"])
def test_a_drive(drive, phy):
    """On PCI Express, of `tiny`."""
    integration_package(drive, phy).check()


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in PRESETS if name != "tiny"])
def test_a_drive_of_a_preset(name):
    """On PCI Express, with ports of every width."""
    integration_package(export_designs(preset(name), pcie=True)).check()


@pytest.mark.parametrize(
    ("change", "key"), [({"command_port": True}, "command_port"), ({"chips": Chips(sca=True)}, "chips.sca")]
)
def test_other_pins_have_no_phy(designs, change, key):
    changed = replace(designs, config=replace(designs.config, **change))
    with pytest.raises(ConfigError, match=f"{key} is True; expected false with the model of a PHY"):
        integration_package(changed, phy=True)
