"""The functional model where no driver takes it: odd settings, queues outside memory, wrong streams."""

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, RegisterError, open_device, raw_entry
from flashtrain.spec import Opcode, Port, Status, preset
from flashtrain.spec.registers import (
    Control,
    PortRegister,
    Register,
    State,
    StreamRegister,
    port_register,
    stream_register,
)

TINY = preset("tiny")


@pytest.fixture
def link():
    with FunctionalLink(TINY, 1 << 16) as opened:
        yield opened


def test_settings_are_read_back(link):
    base = port_register(1, PortRegister.SQ_BASE_LOW)
    for address, value in ((base, 0xFFFF_FFC0), (base + 4, 0xF), (Register.MEMORY_HIGH, 0xFFFF)):
        link.write_register(address, value)
        assert link.read_register(address) == value
    for address, value in (
        (base, 0x20),
        (base + 4, 0x10),
        (port_register(1, PortRegister.CQ_SIZE), 0x10000),
        (port_register(1, PortRegister.CQ_SIZE), 0),
        (port_register(0, PortRegister.SQ_SIZE), 0),
        (Register.CHANNEL_SELECT, 2),
        (Register.ZONE_SELECT, 16),
        (Register.CONTROL, 16),
        (Register.INTERRUPT_MASK, 4),
        (stream_register(1, StreamRegister.GENERATION), 0),
    ):
        with pytest.raises(RegisterError):
            link.write_register(address, value)
    link.write_register(Register.CONTROL, Control.ENABLE)
    with pytest.raises(RegisterError, match="while the controller is enabled"):
        link.write_register(base, 0)


def test_queues_outside_memory_are_fatal(link):
    link.write_register(port_register(0, PortRegister.CQ_BASE_HIGH), 1)
    link.write_register(Register.CONTROL, Control.ENABLE)
    assert link.read_register(Register.STATE) & (State.READY | State.FATAL) == State.FATAL
    link.write_register(Register.CONTROL, 0)
    assert not link.read_register(Register.STATE) & State.FATAL


@pytest.mark.parametrize("zones, attributes", [(15 | 2 << 16, 0xF1), (0 | 2 << 16, 0x10F1), (2 << 16, 0xF0)])
def test_streams_that_are_not_valid(link, zones, attributes):
    """Past the end of the device, of an unknown codec, or without the valid bit."""
    with open_device(link=link) as device:
        device.disable()
        settings = (
            (stream_register(7, StreamRegister.ZONES), zones),
            (
                stream_register(7, StreamRegister.ATTRIBUTES),
                attributes,
            ),
        )
        # As the driver's own stream table would be overwritten by `enable`, by hand:
        for address, value in settings:
            link.write_register(address, value)
        link.write_register(Register.CONTROL, Control.ENABLE)
        device._dispatcher.enabled = True
        flush = raw_entry(opcode=Opcode.FLUSH, nsid=7)
        assert device.submit_raw(Port.CORE, flush).status == Status.INVALID_FIELD


def test_storage_is_sparse():
    """A full-size device is there at once, and its last zone can be used."""
    with open_device("behemoth", memory_bytes=1 << 22) as device:
        stream = device.stream("weights")
        last = (stream.zones - 1) * stream.zone_size
        stored = stream.write(last, np.arange(5))
        assert np.array_equal(stream.read(stored), np.arange(5))
