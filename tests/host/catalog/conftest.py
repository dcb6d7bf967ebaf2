"""A device with a catalogue, on the Link of the other tests of the driver; its pages have 512 bytes."""

import pytest

from flashtrain.host import open_device
from flashtrain.spec.streams import STORE_NODE


@pytest.fixture
def device(link):
    with open_device(link=link, node=STORE_NODE) as opened:
        yield opened


@pytest.fixture
def catalog(device):
    return device.catalog


@pytest.fixture
def again(link):
    """Opens the device after a loss of power: its catalogue is read from the flash."""

    def reopened():
        link.power_cycle()
        return open_device(link=link, node=STORE_NODE, recover=True)

    return reopened
