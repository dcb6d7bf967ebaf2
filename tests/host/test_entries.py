"""Submission entries, completions and reports: their bytes, written out by hand."""

import pytest

from flashtrain.host import raw_entry
from flashtrain.host.queues.command_errors import AccessDenied, CommandError, ZoneFull, command_error
from flashtrain.host.queues.entries import Command, CompletionEntry, defined_result, parse_completion
from flashtrain.host.streams.stored import Extent, join
from flashtrain.host.streams.zone_info import ZoneInfo, parse_report
from flashtrain.spec import Opcode, Port, Status, ZoneState, preset


def words(entry: bytes) -> list[int]:
    return [int.from_bytes(entry[i : i + 4], "little") for i in range(0, len(entry), 4)]


def test_append():
    entry = words(Command(Opcode.ZONE_APPEND, 2, 0x1_0000_0020, 3, 0x9_0000_1000, 3 * 512).entry(0xBEEF))
    assert entry == [0xBEEF_407D, 2, 0, 0, 0, 0, 0x0000_1000, 9, 0x600, 0, 0x20, 1, 2, 0, 0, 0]


def test_commands_without_data():
    reset = words(Command(Opcode.ZONE_MANAGEMENT_SEND, 3, action=4, select_all=True).entry(1))
    assert reset == [0x0001_0079, 3, *[0] * 11, 0x104, 0, 0]
    assert words(Command(Opcode.FLUSH, 1).entry(2)) == [0x0002_0000, 1, *[0] * 14]


def test_report():
    entry = words(Command(Opcode.ZONE_MANAGEMENT_RECEIVE, 1, address=8, length=256).entry(0))
    assert (entry[0], entry[6], entry[8], entry[12], entry[13]) == (0x407A, 8, 256, 63, 0)


def test_raw_entries():
    assert words(raw_entry(opcode=0x7D, fuse=2, nlb=5))[0] == 0x27D
    with pytest.raises(ValueError, match="does not fit a field of 8 bits"):
        raw_entry(opcode=256)
    with pytest.raises(AttributeError):
        raw_entry(colour=1)


def test_completion():
    raw = bytes.fromhex("8877665544332211 0500 0100 cdab") + (0x1B9 << 1 | 1).to_bytes(2, "little")
    completion = parse_completion(raw)
    assert completion == (0xABCD, Status.ZONE_IS_FULL, 0x1122334455667788, 5, 1, False)
    assert not completion.ok and isinstance(completion.status, Status)
    odd = parse_completion(bytes(14) + b"\xfe\x8f")
    assert odd.status == 0x7FF and odd.do_not_retry


def test_command_errors_say_it_all():
    command = Command(Opcode.ZONE_APPEND, 2, 0x40, 3)
    error = command_error(Status.ZONE_IS_FULL, command, Port.CORE, "activations")
    assert isinstance(error, ZoneFull) and error.lba == 0x40 and error.command is command
    assert str(error) == (
        "ZONE_APPEND of 3 blocks at LBA 0x40 of stream 'activations' by port CORE: ZONE_IS_FULL (0x1b9)"
    )
    assert isinstance(command_error(Status.ACCESS_DENIED, command, Port.HOST, "x"), AccessDenied)
    odd = command_error(0x7FF, command, Port.CORE, "x")
    assert type(odd) is CommandError and "unknown status (0x7ff)" in str(odd)


def test_reports_are_read_as_far_as_they_go():
    def descriptor(state: int, capacity: int, start: int, pointer: int, advice: int, *own: int) -> bytes:
        numbers = b"".join(number.to_bytes(8, "little") for number in (capacity, start, pointer))
        head = bytes([2, state << 4, advice, 0, 0, 0, 0, 0])
        tail = b"".join(number.to_bytes(4, "little") for number in own)
        return (head + numbers + tail).ljust(64, b"\0")

    no_pointer, nothing = (1 << 64) - 1, (1 << 32) - 1
    data = (3).to_bytes(64, "little")
    data += descriptor(2, 24, 32, 40, 2, 7, 5, 8)
    data += descriptor(0xE, 24, 64, no_pointer, 4, nothing, nothing, 3, 1)
    assert parse_report(data) == [
        ZoneInfo(
            32, ZoneState.IMPLICITLY_OPEN, 24, 40, time=7, finish_recommended=True, written=8, sequence=5
        ),
        ZoneInfo(64, ZoneState.FULL, 24, None, reset_recommended=True, written=3, unsure=True),
    ]
    assert all(zone.is_old for zone in parse_report(data))
    assert not ZoneInfo(0, ZoneState.EMPTY, 24, 0).is_old
    assert [zone.room for zone in parse_report(data + bytes(10))] == [16, 0]
    assert parse_report((1).to_bytes(64, "little") + data[64:]) == parse_report(data)[:1]


def test_joining_extents():
    extents = [Extent(4, 2), Extent(6, 2), Extent(8, 1), Extent(12, 1), Extent(13, 3)]
    assert join(extents, 8) == ((4, 4), (8, 1), (12, 4))


def test_what_commands_decide_of_a_result():
    """Not what a successful read of a device with a code had to correct; all else."""
    tiny, coded = preset("tiny"), preset("tiny_ecc")
    told = CompletionEntry(cid=1, status=Status.SUCCESS, result=0x1_0305, sq_head=0, port=1)
    lost = told._replace(status=Status.UNRECOVERED_READ_ERROR)
    assert defined_result(Opcode.READ, told, coded) == 0x1_0000
    assert defined_result(Opcode.READ, told, tiny) == told.result
    assert defined_result(Opcode.READ, lost, coded) == told.result
    assert defined_result(Opcode.INSPECT, told, coded) == told.result
