"""Rules of the standard that a host relies on: DNR, numbers of namespaces, reports, *offline*, open zones."""

import numpy as np
import pytest

from flashtrain.host import InvalidZoneTransition, RegisterError, open_device
from flashtrain.host.queues.queue_pair import QueuePair
from flashtrain.spec import Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec.nvme import GenerationAction, ReportFilter, ReportHeader, ZoneDescriptor
from flashtrain.spec.registers import (
    Control,
    PortRegister,
    Register,
    State,
    port_register,
    sq_tail_doorbell,
)
from flashtrain.spec.streams import ACTIVATION_NODE

READ_ONLY, OFFLINE, FULL, CLOSED = ZoneState.READ_ONLY, ZoneState.OFFLINE, ZoneState.FULL, ZoneState.CLOSED
IMPLICIT, EXPLICIT = ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN
RECEIVE, SEND = Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.ZONE_MANAGEMENT_SEND


def states(stream) -> list[ZoneState]:
    return [zone.state for zone in stream.report()]


@pytest.fixture
def stream(link):
    """A stream of many zones."""
    with open_device(link=link, node=ACTIVATION_NODE) as device:
        yield device.stream("activations")


@pytest.fixture
def listed(device, raw):
    """The starts of the zones in a report, the number in its header, and the bytes behind it."""

    def report(lba: int, options: int, partial: int = 0, room: int = 64) -> tuple[list[int], int]:
        raw.data[:] = 0xA5
        length = ReportHeader.BYTES + room * ZoneDescriptor.BYTES
        fields = {"length": length, "dwords": length // 4 - 1, "report_options": options, "partial": partial}
        assert raw.status(RECEIVE, slba=lba, **fields) == Status.SUCCESS
        content = raw.data[:length].tobytes()
        words = [content[at : at + 64] for at in range(64, length, 64)]
        described = [word for word in words if word != b"\xa5" * 64]
        assert words[: len(described)] == described, "one after the other"
        starts = [int.from_bytes(word[16:24], "little") for word in described]
        return starts, int.from_bytes(content[:8], "little")

    return report


def test_do_not_retry(device, raw, config):
    """DNR is in refusals, and not where the same command may succeed later."""
    size = config.geometry.zone_size
    for opcode, fields, status, final in (
        (Opcode.ZONE_APPEND, {}, Status.SUCCESS, False),
        (0xEE, {}, Status.INVALID_OPCODE, True),
        (Opcode.ZONE_APPEND, {"slba": 1}, Status.INVALID_FIELD, True),
        (Opcode.READ, {"slba": size - 1}, Status.UNWRITTEN_BLOCK, True),
        (Opcode.READ, {"address": 1 << 40}, Status.DATA_TRANSFER_ERROR, False),
        (SEND, {"slba": size, "action": ZoneAction.CLOSE}, Status.INVALID_ZONE_TRANSITION, True),
    ):
        answer = raw.answer(opcode, **fields)
        assert (answer.status, answer.do_not_retry) == (status, final)


def test_a_stream_that_is_not_ready_may_be_asked_again(update_device, raw_of):
    raw = raw_of(update_device)
    assert raw.answer(Opcode.RESTORE, "inputs", Port.HOST, action=4).do_not_retry  # not recovering
    update_device.disable()
    update_device.begin_recovery()
    answer = raw.answer(Opcode.FLUSH, "inputs", Port.HOST)
    assert (answer.status, answer.do_not_retry) == (Status.NAMESPACE_NOT_READY, False)


def test_reports_from_any_block_with_any_filter(device, listed, config):
    stream, size = device.stream("activations"), config.geometry.zone_size
    page = np.zeros(config.geometry.page_bytes, np.uint8)
    stream.retire_zone(0, READ_ONLY)
    stream.finish_zone(1)
    stream.open_zone(2)
    stream.write(3 * size, page)
    zones = states(stream)
    for options in ReportFilter:
        state = None if options is ReportFilter.ALL else ZoneState[options.name]
        for lba in (0, 1, size - 1, size, 2 * size + 3):
            matching = [n * size for n in range(lba // size, len(zones)) if state in (None, zones[n])]
            assert listed(lba, options) == (matching, len(matching))
            assert listed(lba, options, partial=0, room=1) == (matching[:1], len(matching))
            assert listed(lba, options, partial=1, room=1) == (matching[:1], len(matching[:1]))
            assert listed(lba, options, partial=1, room=0) == ([], 0)


def test_reports_that_are_refused(raw, config):
    for options in (8, 0x0F, 0x10, 0x80):
        assert raw.status(RECEIVE, report_options=options) == Status.INVALID_FIELD
    zones, size = len(raw.device.node.zones(config.geometry.zones)[2]), config.geometry.zone_size
    assert raw.status(RECEIVE, slba=zones * size - 1) == Status.SUCCESS
    assert raw.status(RECEIVE, slba=zones * size) == Status.LBA_OUT_OF_RANGE


def test_offline(stream, config):
    """From read-only, and from nowhere else; an offline zone stays what it is."""
    size = config.geometry.zone_size
    stream.write(size, np.zeros(config.geometry.page_bytes, np.uint8))
    for zone in (0, 1):
        with pytest.raises(InvalidZoneTransition):
            stream.take_offline(zone)
    stream.retire_zone(1, READ_ONLY)
    stream.take_offline(1)
    stream.take_offline(1)
    for zone in (2, 4):
        stream.retire_zone(zone, READ_ONLY)
    stream.retire_zone(3, OFFLINE)
    stream.open_zone(0)
    stream.manage_all(ZoneAction.OFFLINE)
    assert states(stream)[:6] == [EXPLICIT, OFFLINE, OFFLINE, OFFLINE, OFFLINE, ZoneState.EMPTY]
    # The resources are those of before.
    for zone in range(5, 4 + config.max_open):
        stream.open_zone(zone)
    assert states(stream).count(EXPLICIT) == config.max_open


def test_offline_of_a_pinned_stream(device, raw):
    """It would lose data. Closing its zones does not."""
    device.stream("activations").retire_zone(0, READ_ONLY)
    assert raw.status(Opcode.GENERATION, action=GenerationAction.PIN) == Status.SUCCESS
    for every in (0, 1):
        offline = {"action": ZoneAction.OFFLINE, "select_all": every}
        assert raw.status(SEND, **offline) == Status.NAMESPACE_WRITE_PROTECTED
    assert raw.status(SEND, action=ZoneAction.CLOSE, select_all=1) == Status.SUCCESS
    assert raw.status(Opcode.GENERATION, action=GenerationAction.RELEASE) == Status.SUCCESS
    assert raw.status(SEND, action=ZoneAction.OFFLINE) == Status.SUCCESS


def test_room_among_the_open_zones(stream, config):
    """One zone after the other beyond the limit: the first that is implicitly open is closed for the next."""
    page, size = np.zeros(config.geometry.page_bytes, np.uint8), config.geometry.zone_size
    most = config.max_open
    stream.open_zone(0)
    for zone in range(1, most):
        stream.write(zone * size, page)
    stream.write(most * size, page)
    if most > 2:
        assert states(stream)[: most + 1] == [EXPLICIT, CLOSED, *[IMPLICIT] * (most - 1)]
        stream.open_zone(1)
        assert states(stream)[: most + 1] == [EXPLICIT, EXPLICIT, CLOSED, *[IMPLICIT] * (most - 2)]
        stream.write(2 * size + 1, page)
        assert states(stream)[2:4] == [IMPLICIT, CLOSED]
    else:
        assert states(stream)[: most + 1] == [EXPLICIT, CLOSED, IMPLICIT]
    assert [zone.write_pointer for zone in stream.report()[1 : most + 1]] == [
        zone * size + (2 if zone == 2 and most > 2 else 1) for zone in range(1, most + 1)
    ]


def test_a_queue_of_one_entry_is_refused(device, link):
    device.disable()
    for size in (PortRegister.SQ_SIZE, PortRegister.CQ_SIZE):
        with pytest.raises(RegisterError):
            link.write_register(port_register(Port.HOST, size), 0)


def test_a_port_without_a_completion_queue_refuses_commands(link):
    """After a reset of everything its queue has one entry; the doorbell is ignored, and STATE says so."""
    assert QueuePair.size_bytes(8) < len(link.memory)
    link.write_register(port_register(Port.HOST, PortRegister.SQ_SIZE), 7)
    link.write_register(Register.MEMORY_LOW, len(link.memory))
    link.write_register(Register.CONTROL, Control.ENABLE)
    for _ in range(1000):
        if link.read_register(Register.STATE) & State.READY:
            break
        link.run(1000)
    link.write_register(sq_tail_doorbell(Port.HOST), 1)
    assert link.read_register(sq_tail_doorbell(Port.HOST)) == 0
    assert link.read_register(Register.STATE) & State.BAD_DOORBELL
    link.write_register(Register.CONTROL, 0)
