"""A die whose array hangs is given up: what it holds cannot be read nor written, and all others serve on."""

from collections.abc import Iterator

import numpy as np
import pytest

from flashtrain.host import Device, StreamFull, TensorGroup, open_device
from flashtrain.host.command_errors import MediaError
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import Port, ZoneState, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.registers import ChannelCounter
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import SGD

CONFIG = preset("tiny")
PAGE = CONFIG.geometry.page_bytes
LOST = 1
"""Number of the channel whose only die hangs; pages of consecutive blocks are in channels by turns."""


@pytest.fixture
def link() -> Iterator[RtlLink]:
    with RtlLink(CONFIG) as opened:
        yield opened


def content(blocks: int) -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (blocks, PAGE), np.uint8)


def offline(device: Device) -> list[int]:
    return [channel[ChannelCounter.DIES_OFFLINE.name] for channel in device.channel_counters()]


def test_what_other_dies_hold_can_be_read(link, device):
    stream = device.stream("activations", Port.CORE)
    written = content(8)
    first = stream.append(written).extents[0].lba
    stream.flush()
    link.hang_die(LOST, 0)
    for block, expected in enumerate(written):
        if block % 2 == LOST:
            with pytest.raises(MediaError, match="UNRECOVERED_READ_ERROR"):
                stream.read_blocks(first + block, 1)
        else:
            assert np.array_equal(stream.read_blocks(first + block, 1), expected)
    assert offline(device) == [0, 1]


def test_programs_that_hang(link, device):
    """Appends end with an error, and so do those that follow, each in another zone, until none is left: all
    are on all dies. What other dies hold is there."""
    stream = device.stream("trained", Port.CORE)
    written = content(4)
    first = stream.append(written).extents[0].lba
    stream.flush()
    link.hang_die(LOST, 0)
    for zone in range(stream.zones):
        assert stream.report()[zone].state is not ZoneState.READ_ONLY
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            stream.append(content(CONFIG.geometry.zone_capacity // 2))
            stream.flush()
        assert stream.report()[zone].state is ZoneState.READ_ONLY
    with pytest.raises(StreamFull):
        stream.append(content(1))
    assert offline(device) == [0, 1]
    assert np.array_equal(stream.read_blocks(first, 1), written[0])


def test_a_die_may_come_back_with_a_reset(link):
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained", Port.CORE)
        link.hang_die(LOST, 0)
        with pytest.raises(MediaError):
            stream.append(content(8))
            stream.flush()
    link.mend_dies()
    with open_device(link=link, node=SINGLE_NODE) as device:
        stream = device.stream("trained", Port.CORE)
        written = content(8)
        stored = stream.append(written)
        stream.flush()
        assert np.array_equal(stream.read(stored), written)
        assert offline(device) == [0, 0]


def test_an_update_that_hangs(link):
    """It ends with an error instead of never."""
    group = TensorGroup(OptimizerCode.SGD, ((3 * PAGE,),), GradientFormat.FP32, CopyFormat.NONE)
    with open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([group])
        state.initialise([[np.ones(3 * PAGE, np.float32)]])
        link.hang_die(LOST, 0)
        with pytest.raises(MediaError, match="WRITE_FAULT"):
            state.update([[np.zeros(3 * PAGE, np.float32)]], [SGD(0.3).constants(1)])
        assert offline(device) == [0, 1]
