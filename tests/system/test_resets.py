"""Resets, generations, flushes; disabling the controller with commands in flight."""

import numpy as np
import pytest

from flashtrain.host import DeviceClosed, RegisterError, open_device
from flashtrain.host.queues.command_errors import UnwrittenBlock, ZoneOffline
from flashtrain.spec import Opcode, Port, ZoneState
from flashtrain.spec.identity import GENERATION_LIMIT, RestoreAction
from flashtrain.spec.registers import Register, State, StreamRegister, sq_tail_doorbell, stream_register


def generation(link, stream):
    return link.read_register(stream_register(stream.nsid, StreamRegister.GENERATION))


def test_a_stream_reset_empties_that_stream_only(device, link):
    stream, other = device.stream("activations"), device.stream("weights")
    kept = other.append(np.arange(5))
    for expected in (1, 2, 3):
        stored = stream.append(np.full(100, expected))
        assert stored.lba == 0
        stream.reset()
        assert generation(link, stream) == expected
        with pytest.raises(UnwrittenBlock):
            stream.read_blocks(stored.lba, 1)
        assert {zone.state for zone in stream.report()} == {ZoneState.EMPTY}
    assert np.array_equal(other.read(kept), np.arange(5))
    assert generation(link, other) == 0


def test_the_generation_after_the_last_is_the_first(device, link, raw_of):
    raw, stream = raw_of(device), device.stream("activations")
    device.disable()
    device.begin_recovery()
    restore = {"stream": "activations", "port": Port.HOST}
    last = GENERATION_LIMIT - 1
    assert raw.status(Opcode.RESTORE, **restore, action=RestoreAction.STREAM, generation=last) == 0
    assert raw.status(Opcode.RESTORE, **restore, action=RestoreAction.END) == 0
    assert generation(link, stream) == last
    stream.reset()
    assert generation(link, stream) == 0


def test_retired_zones_outlast_a_stream_reset(device):
    stream = device.stream("activations")
    stored = stream.append(np.arange(9))
    stream.retire_zone(0, ZoneState.READ_ONLY)
    stream.retire_zone(1, ZoneState.OFFLINE)
    stream.reset()
    assert [zone.state for zone in stream.report()[:2]] == [ZoneState.READ_ONLY, ZoneState.OFFLINE]
    assert np.array_equal(stream.read(stored), np.arange(9))
    with pytest.raises(ZoneOffline):
        stream.read_blocks(stream.zone_size, 1)
    stream.flush()
    assert stream.append(np.arange(9)).lba == 2 * stream.zone_size


def test_reset_among_commands_in_flight(device, seed):
    """What a port submitted before a reset is done before it; what comes after finds it empty."""
    random = np.random.default_rng(seed)
    stream = device.stream("activations")
    for _ in range(5):
        old = random.standard_normal(300)
        stored = stream.append(old)
        read = stream.read_async(stored)
        reset = stream.reset_async()
        new = random.standard_normal(40)
        append = stream.append_async(new)
        assert np.array_equal(read.result(), old)
        reset.result()
        assert append.result().lba == 0
        assert np.array_equal(stream.read(append.result()), new)
        stream.reset()


def test_zone_reset_forgets_its_data_only(device, config):
    stream = device.stream("activations")
    page = config.geometry.page_bytes
    a = stream.write(0, np.full(page, 1, np.uint8))
    b = stream.write(stream.zone_size, np.full(page, 2, np.uint8))
    stream.reset_zone(0)
    assert (stream.read(b) == 2).all()
    with pytest.raises(UnwrittenBlock):
        stream.read_blocks(a.lba, 1)
    stream.write(0, np.full(page, 3, np.uint8))
    assert (stream.read_blocks(a.lba, 1) == 3).all()


def test_zones_are_used_again_and_again(device, config):
    """More resets than there are zones: the device must erase and reuse blocks."""
    stream = device.stream("activations")
    rounds = 2 * config.geometry.zones if config.geometry.zones < 16 else 4
    for i in range(rounds):
        stored = [stream.append(np.full(100, i * 10 + j)) for j in range(2)]
        for j, one in enumerate(stored):
            assert (stream.read(one) == i * 10 + j).all()
        stream.reset()


def test_flush_of_nothing_and_twice(device):
    for name in ("activations", "trained"):
        stream = device.stream(name)
        stream.flush()
        stream.append(np.ones(1))
        stream.flush()
        stream.flush()


def test_disable_with_commands_in_flight(device):
    stream = device.stream("activations")
    data = np.arange(1000, dtype=np.float32)
    for cycles in (0, 1, 10, 50, 100, 300, 1000, 3000):
        free = device.buffer_free_bytes
        pendings = [stream.append_async(data) for _ in range(4)]
        device.link.run(cycles)
        device.disable()
        for pending in pendings:
            with pytest.raises(DeviceClosed, match="ZONE_APPEND of stream 'activations'"):
                pending.result()
        assert device.buffer_free_bytes == free
        with pytest.raises(DeviceClosed):
            stream.append(data)
        device.enable()
        assert {zone.state for zone in stream.report()} == {ZoneState.EMPTY}
        stored = stream.append(data)
        assert stored.lba == 0
        assert np.array_equal(stream.read(stored), data)


def test_format_erases(device):
    stream = device.stream("trained")
    stored = stream.append(np.ones(10))
    stream.retire_zone(1, ZoneState.OFFLINE)
    device.format()
    assert {zone.state for zone in stream.report()} == {ZoneState.EMPTY}
    with pytest.raises(UnwrittenBlock):
        stream.read_blocks(stored.lba, 1)
    assert np.array_equal(stream.read(stream.append(np.ones(10))), np.ones(10))


def test_the_context_manager_after_an_error(link):
    with pytest.raises(ZeroDivisionError), open_device(link=link) as device:
        stream = device.stream("activations")
        for _ in range(3):
            stream.append_async(np.ones(500))
        raise ZeroDivisionError
    assert not link.read_register(Register.STATE) & State.READY
    with open_device(link=link) as device:
        stream = device.stream("activations")
        assert np.array_equal(stream.read(stream.append(np.ones(500))), np.ones(500))


def test_state_register(device, link):
    assert (
        link.read_register(Register.STATE) & (State.READY | State.FATAL | State.BAD_DOORBELL) == State.READY
    )
    link.write_register(sq_tail_doorbell(Port.CORE), 64)
    assert link.read_register(Register.STATE) & State.BAD_DOORBELL
    # It is ignored, and service goes on.
    stream = device.stream("activations")
    assert np.array_equal(stream.read(stream.append(np.ones(5))), np.ones(5))
    device.enable()
    assert not link.read_register(Register.STATE) & State.BAD_DOORBELL


def test_registers_that_refuse(device, link):
    refused_reads = [0x040, 0x3FC, 0x0FC, 0x1FFC, 0x490]
    for address in refused_reads:
        with pytest.raises(RegisterError, match=f"{address:#x}|{address:#06x}"):
            link.read_register(address)
    for address in (*refused_reads, Register.ID, Register.GEOMETRY, Register.STATE, Register.MEMORY_LOW):
        with pytest.raises(RegisterError):
            link.write_register(address, 0)
    device.disable()
    with pytest.raises(RegisterError):
        link.write_register(sq_tail_doorbell(Port.HOST), 0)
