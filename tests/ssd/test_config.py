"""The configuration of a conventional SSD."""

from dataclasses import replace

import pytest

from flashtrain.spec import ConfigError, preset
from flashtrain.ssd import SsdConfig, bounds

BEHEMOTH = SsdConfig.of(preset("behemoth"), 1)


def test_behemoths_table():
    """500 GB: 16 channels x 2 chips x 1 die, and 7 % over-provisioning."""
    g = BEHEMOTH.geometry
    assert (g.channels, g.dies, g.planes, g.blocks, g.pages) == (16, 2, 8, 683, 768)
    assert BEHEMOTH.capacity_bytes / 1e9 == pytest.approx(514, abs=0.1)
    assert BEHEMOTH.all_pages / BEHEMOTH.user_pages == pytest.approx(1.07)
    assert BEHEMOTH.firmware_cycles(BEHEMOTH.write_ns) == 870  # of 600 MHz
    assert BEHEMOTH.cycles(BEHEMOTH.read_ns) == 1158


def test_firmware_costs_more_for_larger_pages():
    large = SsdConfig.of(preset("optimstore"), 1)
    assert large.geometry.page_bytes == 16384
    assert large.firmware_cycles(large.write_ns) == 4 * large.cycles(large.write_ns)


def test_bounds():
    """Those of the facts: 2.82 GB/s of serial firmware, 11.3 for four drives."""
    one, four = bounds(BEHEMOTH, 1 << 20), bounds(replace(BEHEMOTH, drives=4), 1 << 20)
    assert one.write / 1e9 == pytest.approx(2.825, abs=0.001) and one.write == one.firmware
    assert four.write / 1e9 == pytest.approx(11.3, abs=0.01)
    assert four.programs / 1e9 == pytest.approx(41.94, abs=0.01)
    assert four.buses / 1e9 == pytest.approx(76.8 * 4096 / 4112, abs=0.1) and four.read == four.buses
    assert bounds(BEHEMOTH, 4096).read == bounds(BEHEMOTH, 4096).commands
    assert bounds(replace(BEHEMOTH, write_ns=0), 4096).firmware == float("inf")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"over_provisioning": 0}, "ssd.over_provisioning is 0; expected a number above 0, at most 1"),
        (
            {"over_provisioning": 0.005},
            r"ssd.over_provisioning is 0.005; expected at least 0.009: 683",
        ),
        ({"firmware_cores": 0}, "ssd.firmware_cores is 0; expected an integer from 1 to 64"),
        ({"gc_critical": 5}, "ssd.gc_critical is 5; expected an integer from 1 to 4"),
        ({"buffer_bytes": 1 << 20}, "ssd.buffer_bytes is 1048576; expected an integer from 4194304"),
        ({"stripe_bytes": 5000}, "ssd.stripe_bytes is 5000; expected a multiple of a page's 4096 bytes"),
    ],
)
def test_a_bad_value(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(BEHEMOTH, **changes)


def test_too_few_channels_to_share():
    with pytest.raises(ConfigError, match=r"geometry.channels is 2; expected at least 4"):
        SsdConfig.of(preset("tiny"), 1)
