"""The zone state machine, resources, full zones, and reports."""

import numpy as np
import pytest

from flashtrain.host import CommandError, open_device
from flashtrain.host.queues.command_errors import (
    InvalidZoneTransition,
    LbaOutOfRange,
    TooManyZones,
    ZoneBoundaryError,
    ZoneFull,
    ZoneOffline,
    ZoneReadOnly,
)
from flashtrain.spec import Opcode, Status, ZoneAction, ZoneState
from flashtrain.spec.streams import ACTIVATION_NODE

EMPTY, CLOSED, FULL = ZoneState.EMPTY, ZoneState.CLOSED, ZoneState.FULL
IMPLICIT, EXPLICIT = ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN
READ_ONLY, OFFLINE = ZoneState.READ_ONLY, ZoneState.OFFLINE
REFUSED = None

# ZNS 1.1, section 3.4.3.1: state, then what each action makes of it.
TRANSITIONS = {
    EMPTY: {"open": EXPLICIT, "close": REFUSED, "finish": FULL, "reset": EMPTY},
    IMPLICIT: {"open": EXPLICIT, "close": CLOSED, "finish": FULL, "reset": EMPTY},
    EXPLICIT: {"open": EXPLICIT, "close": CLOSED, "finish": FULL, "reset": EMPTY},
    CLOSED: {"open": EXPLICIT, "close": CLOSED, "finish": FULL, "reset": EMPTY},
    FULL: {"open": REFUSED, "close": REFUSED, "finish": FULL, "reset": EMPTY},
    READ_ONLY: {"open": REFUSED, "close": REFUSED, "finish": REFUSED, "reset": REFUSED},
    OFFLINE: {"open": REFUSED, "close": REFUSED, "finish": REFUSED, "reset": REFUSED},
}


@pytest.fixture
def stream(device):
    return device.stream("activations")


@pytest.fixture
def one_block(config):
    return np.full(config.geometry.page_bytes, 5, np.uint8)


def bring(stream, zone, state, block):
    """Put an empty zone into `state`, with one block in it unless it is to be empty."""
    if state is EMPTY:
        return
    stream.write(zone * stream.zone_size, block)
    if state is EXPLICIT:
        stream.open_zone(zone)
    elif state is CLOSED:
        stream.close_zone(zone)
    elif state is FULL:
        stream.finish_zone(zone)
    elif state in (READ_ONLY, OFFLINE):
        stream.retire_zone(zone, state)


@pytest.mark.parametrize("state", TRANSITIONS, ids=lambda state: state.name)
def test_transitions(device, stream, one_block, state):
    for action, after in TRANSITIONS[state].items():
        device.enable()
        bring(stream, 1, state, one_block)
        assert stream.report()[1].state is state
        act = getattr(stream, f"{action}_zone")
        if after is REFUSED:
            with pytest.raises(InvalidZoneTransition):
                act(1)
            assert stream.report()[1].state is state
        else:
            act(1)
            assert stream.report()[1].state is after
        others = [zone for i, zone in enumerate(stream.report()) if i != 1]
        assert all(zone.state is EMPTY for zone in others)


@pytest.mark.parametrize("state", TRANSITIONS, ids=lambda state: state.name)
@pytest.mark.parametrize("target", [READ_ONLY, OFFLINE], ids=lambda state: state.name)
def test_retiring(stream, one_block, state, target):
    bring(stream, 0, state, one_block)
    if state in (OFFLINE, target):
        with pytest.raises(InvalidZoneTransition):
            stream.retire_zone(0, target)
    else:
        stream.retire_zone(0, target)
        assert stream.report()[0].state is target
        assert stream.report()[0].write_pointer is None


@pytest.mark.parametrize("state", TRANSITIONS, ids=lambda state: state.name)
def test_data_in_every_state(stream, one_block, state):
    bring(stream, 0, state, one_block)
    refusal = {FULL: ZoneFull, READ_ONLY: ZoneReadOnly, OFFLINE: ZoneOffline}.get(state)
    if state is OFFLINE:
        with pytest.raises(ZoneOffline):
            stream.read_blocks(0, 1)
    elif state is not EMPTY:
        assert np.array_equal(stream.read_blocks(0, 1), one_block)
    if refusal:
        with pytest.raises(refusal):
            stream.write(1, one_block)
        return
    pointer = stream.report()[0].write_pointer
    stream.write(pointer, one_block)
    after = stream.report()[0]
    assert after.write_pointer == pointer + 1
    assert after.state is (EXPLICIT if state is EXPLICIT else IMPLICIT)


def test_a_zone_fills_up(device, stream, raw, config):
    capacity, size = config.geometry.zone_capacity, config.geometry.zone_size
    left = capacity
    while left > 1:
        blocks = min(config.max_blocks, left - 1)
        assert raw.status(Opcode.ZONE_APPEND, nlb=blocks - 1) == Status.SUCCESS
        left -= blocks
    assert stream.report()[0].state is IMPLICIT
    # One too many is refused whole; the last block fills the zone.
    assert raw.status(Opcode.ZONE_APPEND, nlb=1) == Status.ZONE_BOUNDARY_ERROR
    last = raw.answer(Opcode.ZONE_APPEND)
    assert (last.status, last.result) == (Status.SUCCESS, capacity - 1)
    assert stream.report()[0].state is FULL
    assert raw.status(Opcode.ZONE_APPEND) == Status.ZONE_IS_FULL
    assert raw.status(Opcode.WRITE, slba=capacity - 1) == Status.ZONE_IS_FULL
    # Reading: up to the last block, not past it, nor over the zone's end.
    assert raw.status(Opcode.READ, slba=capacity - 2, nlb=1) == Status.SUCCESS
    assert raw.status(Opcode.READ, slba=size - 1, nlb=1) == Status.ZONE_BOUNDARY_ERROR
    if size > capacity:
        assert raw.status(Opcode.READ, slba=capacity - 1, nlb=1) == Status.UNWRITTEN_BLOCK
    stream.reset_zone(0)
    assert raw.status(Opcode.READ, slba=0) == Status.UNWRITTEN_BLOCK
    assert raw.answer(Opcode.ZONE_APPEND).result == 0


def test_a_zone_that_fills_gives_its_resources_back(stream, config, one_block):
    for zone in range(min(stream.zones, config.max_active) - 1):
        stream.write(zone * stream.zone_size, one_block)
        stream.finish_zone(zone)
    stream.write((stream.zones - 1) * stream.zone_size, one_block)
    assert [zone.state for zone in stream.report()].count(FULL) == min(stream.zones, config.max_active) - 1


def test_open_and_active_resources(link, config, raw_of):
    with open_device(link=link, node=ACTIVATION_NODE) as device:
        stream = device.stream("activations")
        assert stream.zones > config.max_active
        block = np.zeros(config.geometry.page_bytes, np.uint8)
        for zone in range(config.max_open):
            stream.open_zone(zone)
        for refused in (
            lambda: stream.open_zone(config.max_open),
            lambda: stream.write(config.max_open * stream.zone_size, block),
        ):
            with pytest.raises(TooManyZones) as caught:
                refused()
            assert caught.value.status is Status.TOO_MANY_OPEN_ZONES
        # Closed zones stay active.
        stream.manage_all(ZoneAction.CLOSE)
        for zone in range(config.max_open, config.max_active):
            stream.write(zone * stream.zone_size, block)
        with pytest.raises(TooManyZones) as caught:
            stream.open_zone(config.max_active)
        assert caught.value.status is Status.TOO_MANY_ACTIVE_ZONES
        # All of the closed ones cannot be open at once: nothing changes.
        before = stream.report()
        with pytest.raises(TooManyZones) as caught:
            stream.manage_all(ZoneAction.OPEN)
        assert caught.value.status is Status.TOO_MANY_OPEN_ZONES
        assert stream.report() == before
        # Another stream has resources of its own.
        assert raw_of(device).status(Opcode.ZONE_APPEND, "inputs", 0) == Status.SUCCESS
        # A reset and a retired zone give theirs back.
        stream.reset_zone(0)
        stream.retire_zone(1, READ_ONLY)
        stream.write(config.max_active * stream.zone_size, block)


@pytest.mark.parametrize("action", ZoneAction, ids=lambda action: action.name)
def test_all_zones_at_once(link, action, one_block):
    applies = {
        ZoneAction.OPEN: {CLOSED: EXPLICIT},
        ZoneAction.CLOSE: {IMPLICIT: CLOSED, EXPLICIT: CLOSED},
        ZoneAction.FINISH: {IMPLICIT: FULL, EXPLICIT: FULL, CLOSED: FULL},
        ZoneAction.RESET: {IMPLICIT: EMPTY, EXPLICIT: EMPTY, CLOSED: EMPTY, FULL: EMPTY},
        ZoneAction.OFFLINE: {READ_ONLY: OFFLINE},
    }[action]
    with open_device(link=link, node=ACTIVATION_NODE) as device:
        stream = device.stream("activations")
        # With two open zones at most, one state after the other: an open one is made room for.
        before = [
            OFFLINE,
            READ_ONLY,
            FULL,
            CLOSED,
            EMPTY,
            IMPLICIT if action is ZoneAction.OPEN else EXPLICIT,
        ]
        if action is not ZoneAction.OPEN:
            before.append(IMPLICIT)
        for zone, state in enumerate(before):
            bring(stream, zone, state, one_block)
        assert [zone.state for zone in stream.report()[: len(before)]] == before
        stream.manage_all(action)
        after = [applies.get(state, state) for state in before]
        assert [zone.state for zone in stream.report()[: len(before)]] == after


def test_report(device, stream, config, one_block):
    stream.write(0, one_block)
    stream.finish_zone(1)
    report = stream.report()
    assert len(report) == stream.zones
    assert [zone.start for zone in report] == [i * config.geometry.zone_size for i in range(stream.zones)]
    assert {zone.capacity for zone in report} == {config.geometry.zone_capacity}
    assert (report[0].state, report[0].write_pointer) == (IMPLICIT, 1)
    assert (report[1].state, report[1].write_pointer) == (FULL, None)
    assert (report[2].state, report[2].write_pointer) == (EMPTY, report[2].start)
    assert stream.report(first_zone=2) == report[2:]
    with pytest.raises(LbaOutOfRange):
        stream.report(first_zone=stream.zones)


@pytest.mark.parametrize("partial", [0, 1])
def test_report_into_a_short_buffer(device, stream, raw, partial):
    raw.data[:] = 0xA5
    # A header, one descriptor, and half of another, which stays as it was.
    status = raw.status(
        Opcode.ZONE_MANAGEMENT_RECEIVE, slba=stream.zone_size, length=160, dwords=39, partial=partial
    )
    assert status == Status.SUCCESS
    assert int.from_bytes(raw.data[:8].tobytes(), "little") == (1 if partial else stream.zones - 1)
    assert not raw.data[8:64].any()
    assert int.from_bytes(raw.data[80:88].tobytes(), "little") == stream.zone_size
    assert (raw.data[128:256] == 0xA5).all()


def test_reports_need_no_descriptor_and_no_block_alignment(stream, raw):
    raw.data[:] = 0xA5
    where = raw.address + 8
    status = raw.status(Opcode.ZONE_MANAGEMENT_RECEIVE, length=64, dwords=15, address=where)
    assert status == Status.SUCCESS
    assert (raw.data[:8] == 0xA5).all() and (raw.data[72:128] == 0xA5).all()
    assert int.from_bytes(raw.data[8:16].tobytes(), "little") == stream.zones


def test_the_driver_follows_zones_that_change_behind_it(stream, one_block):
    stream.append(one_block)
    stream.finish_zone(0)
    stream.retire_zone(1, OFFLINE)
    stored = stream.append(one_block)
    assert stored.lba == 2 * stream.zone_size
    stream.reset_zone(0)
    assert stream.append(one_block).lba == stored.lba + 1  # the zone that is open comes first


def test_a_write_over_the_end_of_a_zone(stream, config, one_block):
    with pytest.raises(ZoneBoundaryError):
        stream.read_blocks(config.geometry.zone_size - 1, 2)
    with pytest.raises(CommandError):
        stream.write(config.geometry.zone_capacity - 1, np.tile(one_block, 2))
