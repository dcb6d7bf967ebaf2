"""Numbers of commands, statuses and entries, as NVMe and its zoned command set print them."""

import pytest

from flashtrain.spec import Completion, Opcode, Status, Submission, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import (
    BitField,
    GenerationAction,
    ReportFilter,
    ReportHeader,
    ZoneDescriptor,
    ZoneReport,
    do_not_retry,
)


def values(kind) -> dict[str, int]:
    return {member.name: int(member) for member in kind}


def fields(entry) -> dict[str, tuple[int, int]]:
    return {name: tuple(value) for name, value in vars(entry).items() if isinstance(value, BitField)}


def test_opcodes():
    assert values(Opcode) == {
        "FLUSH": 0x00,
        "WRITE": 0x01,
        "READ": 0x02,
        "ZONE_MANAGEMENT_SEND": 0x79,
        "ZONE_MANAGEMENT_RECEIVE": 0x7A,
        "ZONE_APPEND": 0x7D,
        "STREAM_RESET": 0x80,
        "SET_CONSTANTS": 0x81,
        "GET_STATISTICS": 0x82,
        "UPDATE": 0x83,
        "ZONE_RETIRE": 0x84,
        "INSPECT": 0x86,
        "GENERATION": 0x88,
        "RESTORE": 0x8C,
    }


@pytest.mark.parametrize(
    ("opcode", "direction"),
    [
        (Opcode.SET_CONSTANTS, 0b01),
        (Opcode.GET_STATISTICS, 0b10),
        (Opcode.UPDATE, 0b11),
        (Opcode.GENERATION, 0b00),
        (Opcode.STREAM_RESET, 0b00),
        (Opcode.ZONE_RETIRE, 0b00),
        (Opcode.INSPECT, 0b10),
        (Opcode.RESTORE, 0b00),
    ],
)
def test_vendor_opcodes_tell_the_direction_of_data(opcode, direction):
    """NVM Express Base 2.0, Figure 87: none, host to controller, controller to host, both."""
    assert opcode >= 0x80
    assert opcode & 0b11 == direction


def test_zone_actions():
    assert values(ZoneAction) == {"CLOSE": 1, "FINISH": 2, "OPEN": 3, "RESET": 4, "OFFLINE": 5}
    assert values(ZoneReport) == {"REPORT_ZONES": 0}
    assert values(ReportFilter) == {
        "ALL": 0, "EMPTY": 1, "IMPLICITLY_OPEN": 2, "EXPLICITLY_OPEN": 3, "CLOSED": 4, "FULL": 5,
        "READ_ONLY": 6, "OFFLINE": 7,
    }  # fmt: skip
    assert values(GenerationAction) == {"COMMIT": 1, "PIN": 2, "RELEASE": 3, "ADVANCE": 4}
    assert values(RestoreAction) == {"STREAM": 1, "ZONE": 2, "PHYSICAL": 3, "END": 4, "BLOCK": 5}


def test_zone_states():
    assert values(ZoneState) == {
        "EMPTY": 0x1,
        "IMPLICITLY_OPEN": 0x2,
        "EXPLICITLY_OPEN": 0x3,
        "CLOSED": 0x4,
        "READ_ONLY": 0xD,
        "FULL": 0xE,
        "OFFLINE": 0xF,
    }


def status(code_type: int, code: int) -> int:
    return code_type << 8 | code


def test_statuses():
    assert values(Status) == {
        # Generic command status.
        "SUCCESS": status(0, 0x00),
        "INVALID_OPCODE": status(0, 0x01),
        "INVALID_FIELD": status(0, 0x02),
        "DATA_TRANSFER_ERROR": status(0, 0x04),
        "INTERNAL_ERROR": status(0, 0x06),
        "INVALID_NAMESPACE": status(0, 0x0B),
        "COMMAND_SEQUENCE_ERROR": status(0, 0x0C),
        "SGL_LENGTH_INVALID": status(0, 0x0F),
        "SGL_TYPE_INVALID": status(0, 0x11),
        "SGL_GRANULARITY_INVALID": status(0, 0x1E),
        "NAMESPACE_WRITE_PROTECTED": status(0, 0x20),
        "LBA_OUT_OF_RANGE": status(0, 0x80),
        "NAMESPACE_NOT_READY": status(0, 0x82),
        # Command specific status.
        "ZONE_BOUNDARY_ERROR": status(1, 0xB8),
        "ZONE_IS_FULL": status(1, 0xB9),
        "ZONE_IS_READ_ONLY": status(1, 0xBA),
        "ZONE_IS_OFFLINE": status(1, 0xBB),
        "ZONE_INVALID_WRITE": status(1, 0xBC),
        "TOO_MANY_ACTIVE_ZONES": status(1, 0xBD),
        "TOO_MANY_OPEN_ZONES": status(1, 0xBE),
        "INVALID_ZONE_TRANSITION": status(1, 0xBF),
        "STREAM_IS_CODED": status(1, 0xC0),
        # Media and data integrity errors.
        "WRITE_FAULT": status(2, 0x80),
        "DATA_EXPIRED": status(2, 0xC0),
        "CODED_PAGE_ERROR": status(2, 0xC1),
        "UNRECOVERED_READ_ERROR": status(2, 0x81),
        "ACCESS_DENIED": status(2, 0x86),
        "UNWRITTEN_BLOCK": status(2, 0x87),
    }


def test_submission_entry():
    assert Submission.BYTES == 64
    assert Submission.PSDT_SGL == 1
    dword = 32
    assert fields(Submission) == {
        "opcode": (0, 8),
        "fuse": (8, 2),
        "psdt": (14, 2),
        "cid": (16, 16),
        "nsid": (1 * dword, 32),
        "address": (6 * dword, 64),
        "length": (8 * dword, 32),
        "sgl_type": (9 * dword + 24, 8),
        "slba": (10 * dword, 64),
        "nlb": (12 * dword, 16),
        "dwords": (12 * dword, 32),
        "action": (13 * dword, 8),
        "select_all": (13 * dword + 8, 1),
        "report_options": (13 * dword + 8, 8),
        "partial": (13 * dword + 16, 1),
        "pages": (13 * dword + 16, 8),
        "copies": (13 * dword + 24, 8),
        "rows": (14 * dword, 16),
        "expanded": (14 * dword, 16),
        "exact": (14 * dword + 16, 1),
        "first_part": (15 * dword, 8),
        "parts": (15 * dword + 8, 8),
        "source": (15 * dword, 8),
        "source_page": (15 * dword + 16, 16),
        "physical": (2 * dword, 16),
        "wear": (3 * dword, 21),
        "restored_state": (13 * dword + 8, 4),
        "unsure": (13 * dword + 12, 1),
        "sequence": (14 * dword, 32),
        "generation": (15 * dword, 16),
        "time": (12 * dword, 32),
        "channel": (14 * dword, 8),
        "die": (14 * dword + 8, 8),
        "plane": (14 * dword + 16, 8),
        "spare": (15 * dword, 16),
    }


def test_completion_entry():
    assert Completion.BYTES == 16
    assert fields(Completion) == {
        "result": (0, 64),
        "stored": (32, 16),
        "corrected": (0, 8),
        "retries": (8, 8),
        "sq_head": (64, 16),
        "sq_id": (80, 16),
        "cid": (96, 16),
        "phase": (112, 1),
        "status": (113, 11),
        "do_not_retry": (127, 1),
    }


def test_do_not_retry():
    """DNR where the same command would be refused again; not after what may pass."""
    again = {one for one in Status if not do_not_retry(one)}
    assert again == {
        Status.SUCCESS, Status.DATA_TRANSFER_ERROR, Status.NAMESPACE_NOT_READY, Status.WRITE_FAULT,
    }  # fmt: skip
    assert do_not_retry(0x7FF)


def test_zone_report():
    assert ZoneDescriptor.BYTES == ReportHeader.BYTES == 64
    assert ZoneDescriptor.SEQUENTIAL_WRITE_REQUIRED == 2
    byte = 8
    assert fields(ReportHeader) == {"zones": (0, 64)}
    assert fields(ZoneDescriptor) == {
        "zone_type": (0, 8),
        "state": (1 * byte + 4, 4),
        "capacity": (8 * byte, 64),
        "start": (16 * byte, 64),
        "write_pointer": (24 * byte, 64),
        "finish_recommended": (2 * byte + 1, 1),
        "reset_recommended": (2 * byte + 2, 1),
        "time": (32 * byte, 32),
        "sequence": (36 * byte, 32),
        "written": (40 * byte, 32),
        "unsure": (44 * byte, 1),
    }


def test_a_whole_entry():
    """An append as it lies in memory, byte by byte."""
    s = Submission
    entry = (
        s.opcode.put(Opcode.ZONE_APPEND)
        | s.psdt.put(s.PSDT_SGL)
        | s.cid.put(0x1234)
        | s.nsid.put(2)
        | s.address.put(0x8_0000_4000)
        | s.length.put(0x2000)
        | s.slba.put(0x400)
        | s.nlb.put(1)
    )
    assert entry.to_bytes(s.BYTES, "little").hex(" ", 4) == (
        "7d403412 02000000 00000000 00000000 00000000 00000000 00400000 08000000 "
        "00200000 00000000 00040000 00000000 01000000 00000000 00000000 00000000"
    )


def test_a_field_takes_what_it_gives():
    field = BitField(low=13, width=11)
    for value in (0, 1, 0x5A5, 0x7FF):
        assert field.get(field.put(value)) == value
        assert field.get(field.put(value) | ~(0x7FF << 13)) == value
    for value in (-1, 0x800):
        with pytest.raises(ValueError, match=f"{value} does not fit a field of 11 bits"):
            field.put(value)
