"""A device with command ports behind the RTL Link: bring-up by registers, and the device goes on."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.bringup import ChipMissing, CommandPort, bring_up
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.presets import TINY

CONFIG = replace(TINY, name="tiny_port", command_port=True)

pytestmark = pytest.mark.long


@pytest.fixture
def link():
    with RtlLink(CONFIG, 1 << 20) as link:
        yield link


def test_simulated_dies_have_no_asynchronous_interface(link):
    """They are no chips for a bring-up, which ends soon and by name; DQ is 0 where nobody drives it."""
    before = link.cycles
    reports = bring_up(link)
    assert [type(report.error) for report in reports] == [ChipMissing] * CONFIG.geometry.channels
    assert "READ ID gives 00h alone" in str(reports[0].error)
    assert link.cycles - before < 100_000


def test_data_are_the_same_after_a_pause(link):
    data = np.random.default_rng(1).integers(0, 256, 3 * CONFIG.geometry.page_bytes, np.uint8)
    device = open_device(link=link, factory=True)
    stream = device.stream("trained")
    stored = stream.append(data)
    with CommandPort(link) as port:
        for channel in range(CONFIG.geometry.channels):
            chip = port.chip(channel, 0)
            chip.command(0x70)
            chip.read(1)
    more = stream.append(data[::-1].copy())
    assert (stream.read(stored) == data).all() and (stream.read(more) == data[::-1]).all()
