"""Command bytes, status bits and bus sequences of a die, as ONFI prints them."""

from flashtrain.spec.nand import SEQUENCES, AddressCycles, BusOp, DataPhase, DieCommand, DieStatus, Feature


def values(kind) -> dict[str, int]:
    return {member.name: int(member) for member in kind}


def test_commands():
    assert values(DieCommand) == {
        "READ": 0x00,
        "READ_CONFIRM": 0x30,
        "READ_MULTI_PLANE": 0x32,
        "READ_CACHE": 0x31,
        "READ_CACHE_END": 0x3F,
        "COPYBACK_READ_CONFIRM": 0x35,
        "CHANGE_READ_COLUMN": 0x05,
        "CHANGE_READ_COLUMN_ENHANCED": 0x06,
        "CHANGE_READ_COLUMN_CONFIRM": 0xE0,
        "PROGRAM": 0x80,
        "PROGRAM_CONFIRM": 0x10,
        "PROGRAM_MULTI_PLANE": 0x11,
        "PROGRAM_CACHE": 0x15,
        "CHANGE_WRITE_COLUMN": 0x85,
        "ERASE": 0x60,
        "ERASE_CONFIRM": 0xD0,
        "ERASE_MULTI_PLANE": 0xD1,
        "READ_STATUS": 0x70,
        "READ_STATUS_ENHANCED": 0x78,
        "READ_ID": 0x90,
        "READ_PARAMETER_PAGE": 0xEC,
        "SET_FEATURES": 0xEF,
        "GET_FEATURES": 0xEE,
        "ZQ_CALIBRATION_LONG": 0xF9,
        "ZQ_CALIBRATION_SHORT": 0xD9,
        "RESET": 0xFF,
        "SUSPENDED_READ": 0xBC,
        "SUSPENDED_READ_CONFIRM": 0xBD,
        "SUSPENDED_READ_SELECT": 0xBE,
        "SUSPENDED_READ_END": 0xBF,
        "LOAD_CONSTANTS": 0xC0,
        "LOAD_CONSTANTS_CONFIRM": 0xC1,
        "LOAD_GRADIENT": 0xC2,
        "LOAD_GRADIENT_CONFIRM": 0xC3,
        "UPDATE_SOURCE": 0xC4,
        "UPDATE_TARGET": 0xC5,
        "UPDATE_MULTI_PLANE": 0xC6,
        "UPDATE": 0xC7,
        "UPDATE_END": 0xC8,
        "READ_COPY": 0xC9,
        "READ_COPY_CONFIRM": 0xCA,
        "READ_STATISTICS": 0xCB,
        "READ_STATISTICS_CONFIRM": 0xCC,
    }


def test_status_bits():
    assert values(DieStatus) == {
        "FAIL": 0x01, "FAILC": 0x02, "SUSPENDED_READ": 0x10, "ARDY": 0x20, "RDY": 0x40, "WP_N": 0x80,
    }  # fmt: skip


def test_features():
    assert values(Feature) == {"TIMING_MODE": 0x01, "DRIVE_STRENGTH": 0x10, "READ_LEVEL": 0x89}


def test_phases():
    assert values(AddressCycles) == {"NONE": 0, "FEATURE": 1, "COLUMN": 2, "ROW": 3, "FULL": 5}
    assert values(DataPhase) == {"NONE": 0, "IN": 1, "OUT": 2, "STATUS": 3, "FEATURE": 4}


def spelled(op: BusOp) -> str:
    """Cycles of an operation: command bytes, A for each address cycle, and the data."""
    first, address, second, data, third = SEQUENCES[op]
    parts = [
        "" if first is None else f"{first:02X}",
        "A" * address,
        "" if second is None else f"{second:02X}",
        "" if data is DataPhase.NONE else data.name.lower(),
        "" if third is None else f"{third:02X}",
    ]
    return " ".join(part for part in parts if part)


def test_bus_operations():
    assert values(BusOp) == {
        "RESET": 0,
        "STATUS": 1,
        "STATUS_PLANE": 23,
        "READ_MORE": 3,
        "READ_LAST": 4,
        "CACHE_READ_LAST": 5,
        "CACHE_READ_NEXT": 6,
        "CACHE_READ_END": 7,
        "SELECT": 20,
        "DATA_OUT": 60,
        "PROGRAM_MORE": 24,
        "PROGRAM_LAST": 25,
        "ERASE_MORE": 8,
        "ERASE_LAST": 9,
        "LOAD_CONSTANTS": 26,
        "LOAD_GRADIENT": 27,
        "UPDATE_SOURCE": 10,
        "UPDATE_MORE": 11,
        "UPDATE_LAST": 12,
        "UPDATE_END": 13,
        "SELECT_COPY": 21,
        "SELECT_STATISTICS": 22,
        "SUSPENDED_READ_MORE": 14,
        "SUSPENDED_READ_LAST": 15,
        "SUSPENDED_READ_NEXT": 16,
        "SUSPENDED_READ_SELECT": 19,
        "SUSPENDED_READ_END": 17,
        "PROGRAM_PAGE": 18,
        "SUSPENDED_READ_RENEW": 2,
        "SET_TIMING_MODE": 28,
        "SET_READ_LEVEL": 29,
        "COPYBACK_READ": 30,
        "COPYBACK_PROGRAM": 31,
        "IDENTITY_OUT": 32,
    }


def test_upper_bits_of_bus_operations():
    for op in BusOp:
        assert (op in (32, 60) or 24 <= op <= 29) == (
            SEQUENCES[op].data in (DataPhase.IN, DataPhase.OUT, DataPhase.FEATURE)
        )
        assert (op in (32, 60)) == (op >= 32) == (SEQUENCES[op].data is DataPhase.OUT)
        assert (op == 60) == (op & 0b11_1000 == 0b11_1000)
        assert (op in (24, 25)) == (SEQUENCES[op].data is DataPhase.IN and SEQUENCES[op].first is None)
        assert (20 <= op < 23) == op.name.startswith("SELECT")


def test_sequences():
    assert {op.name: spelled(op) for op in BusOp} == {
        "RESET": "FF",
        "STATUS": "70 status",
        "STATUS_PLANE": "78 AAA status",
        "READ_MORE": "00 AAAAA 32",
        "READ_LAST": "00 AAAAA 30",
        "CACHE_READ_LAST": "00 AAAAA 31",
        "CACHE_READ_NEXT": "31",
        "CACHE_READ_END": "3F",
        "SELECT": "06 AAAAA E0",
        "DATA_OUT": "out",
        "PROGRAM_MORE": "in 11",
        "PROGRAM_LAST": "in 15",
        "ERASE_MORE": "60 AAA D1",
        "ERASE_LAST": "60 AAA D0",
        "LOAD_CONSTANTS": "C0 in C1",
        "LOAD_GRADIENT": "C2 AAA in C3",
        "UPDATE_SOURCE": "C4 AAA",
        "UPDATE_MORE": "C5 AAA C6",
        "UPDATE_LAST": "C5 AAA C7",
        "UPDATE_END": "C8",
        "SELECT_COPY": "C9 AAA CA",
        "SELECT_STATISTICS": "CB CC",
        "SUSPENDED_READ_MORE": "BC AAA",
        "SUSPENDED_READ_LAST": "BC AAA BD",
        "SUSPENDED_READ_NEXT": "BD",
        "SUSPENDED_READ_SELECT": "BE AAA",
        "SUSPENDED_READ_END": "BF",
        "PROGRAM_PAGE": "80 AAAAA",
        "SUSPENDED_READ_RENEW": "BF BD",
        "SET_TIMING_MODE": "EF A feature",
        "SET_READ_LEVEL": "EF A feature",
        "COPYBACK_READ": "00 AAAAA 35",
        "COPYBACK_PROGRAM": "85 AAAAA 10",
        "IDENTITY_OUT": "out",
    }
