"""The pins of a drive on PCI Express, and the files that depend on them, without its elaboration."""

# amaranth: UnusedElaboratable=no

from collections import defaultdict

import pytest
from amaranth.lib.wiring import Out

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.axi_wrapper import DRIVE, wrapper
from flashtrain.rtl.export.drive_pins import drive_bundles
from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.sim.integration.drive_testbench import drive_testbench
from flashtrain.sim.integration.package import export_designs
from flashtrain.sim.integration.sim_top import sim_top
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.pcie import MAX_ENTRIES, MAX_QUEUES


@pytest.fixture(params=["tiny", "behemoth"])
def drive(request):
    config = preset(request.param)
    sizes = PcieSizes.of(config, MAX_QUEUES, MAX_ENTRIES)
    return config, sizes, sizes.drive(config)


def test_each_port_has_its_pins(drive):
    """In width and direction, each once."""
    pins = [pin for bundle in drive_bundles(drive[2]) for pin in bundle.pins]
    assert len({pin.name for pin in pins}) == len(pins)
    found = defaultdict(int)
    for pin in pins:
        found[pin.port, pin.direction] += pin.width
    assert found == {
        (name, "output" if flow == Out else "input"): len(value) for name, flow, value in leaf_ports(drive[2])
    }


def test_fields_stand_in_the_order_of_their_bits(drive):
    text = wrapper(DRIVE, drive_bundles(drive[2]), Clocks(600))
    request = "tag, length, address, write".split(", ")
    joined = ", ".join(f"m_tlp_request_{name}" for name in request)
    assert f".requests__payload({{{joined}}})" in text
    assert ".answers__payload(m_bar_data)" in text
    assert "module flashtrain_nvme (" in text and "  flashtrain_drive controller (" in text


def test_the_bench_drives_each_input(drive):
    config, sizes, unit = drive
    bundles = drive_bundles(unit)
    text = drive_testbench(config, sizes, bundles, Clocks(600))
    top = sim_top(DRIVE.top, bundles, Clocks(600))
    assert ("s_tlp_completion_halves[1] =" in text) == (sizes.tlp.port_bytes == 128)
    for bundle in bundles:
        for pin in bundle.pins:
            assert f".{pin.name}({pin.name})" in top
            if not bundle.name.startswith("nand"):
                assert f".{pin.name}({pin.name})" in text
                assert (f" {pin.name} = 0;" in text) == (pin.direction == "input"), pin


def test_a_drive_has_one_clock():
    with pytest.raises(ConfigError, match="system_clock is 250; expected none with PCI Express"):
        export_designs(preset("tiny"), 250, pcie=True)
