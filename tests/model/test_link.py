"""The model as a Link: data that are dropped, and time that goes on."""

import numpy as np
import pytest

from flashtrain.host import DeviceHang, HostError, UnwrittenBlock, open_device
from flashtrain.model import ModelLink
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE


def times(keep_data: bool) -> list[int]:
    found = []
    with (
        ModelLink(preset("tiny"), 8 << 20, keep_data) as link,
        open_device(link=link, node=SINGLE_NODE) as device,
    ):
        stream = device.stream("activations", Port.CORE)
        data = device.buffer((9 * device.config.geometry.page_bytes,), np.uint8)
        data[:] = 7
        stored = stream.append(data)
        found.append(device.cycles)
        data[:] = 9
        assert (stream.read(stored) == (7 if keep_data else 0)).all()
        found.append(device.cycles)
        stream.flush()
        stream.reset()
        with pytest.raises(UnwrittenBlock):
            stream.read_blocks(0, 1)
        found.append(device.cycles)
    return found


def test_times_without_data_are_the_same():
    assert times(keep_data=True) == times(keep_data=False)


def test_without_data_there_is_nothing_to_recover():
    with (
        ModelLink(preset("tiny"), 1 << 20, keep_data=False) as link,
        pytest.raises(HostError, match="without data"),
    ):
        link.power_cycle()


def test_time_goes_on_over_a_reset_of_the_controller():
    with ModelLink(preset("tiny"), 1 << 20) as link:
        for _ in range(2):
            before = link.cycles
            with open_device(link=link, factory=True) as device:
                device.stream("activations", Port.CORE).flush()
                assert device.cycles > before


def test_a_command_without_an_answer_is_named():
    with (
        ModelLink(preset("tiny"), 1 << 20) as link,
        open_device(link=link, node=SINGLE_NODE) as device,
    ):
        stream = device.stream("activations", Port.CORE)
        pending = stream.append_async(device.buffer((device.config.geometry.page_bytes,), np.uint8))
        with pytest.raises(DeviceHang, match="ZONE_APPEND by CORE, CID 0x0, NSID 2, waits for its turn"):
            link.wait(10)
        device.wait([pending])
