"""Digests, entries and PDUs as the standards have them."""

import random

import pytest

from flashtrain.nvme.wire.commands import Entry, answer_bytes, parse_answer, parse_entry
from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import COMMAND_BYTES, PduType, Transfer, parse_header, transfer_header


def bitwise(data: bytes) -> int:
    """CRC32C, a bit at a time."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 if crc & 1 else crc >> 1
    return crc ^ 0xFFFF_FFFF


def test_the_digest_of_the_standards_check_value():
    assert digest(b"123456789") == 0xE3069283.to_bytes(4, "little")  # RFC 3720, appendix B.4
    assert digest(bytes(32)) == 0x8A9136AA.to_bytes(4, "little")


@pytest.mark.parametrize("length", [0, 1, 24, 72, 4095, 4096, 4097, 12288])
def test_digests_of_all_lengths(length, seed):
    data = random.Random(seed).randbytes(length)
    assert digest(data) == bitwise(data).to_bytes(4, "little")


def test_entries_come_back():
    entry = Entry(0x7D, 0x40, 7, 3, 1, 2, 0x1234, 8192, 0x5A, 1, 2, 3, 4, 5, 6)
    assert parse_entry(entry.packed()) == entry
    raw = entry.packed()
    assert (raw[0], raw[2], raw[4], raw[39], raw[40], raw[60]) == (0x7D, 7, 3, 0x5A, 1, 6)


def test_the_status_field_of_an_answer():
    raw = answer_bytes(5, 9, 3, 0x1BC, do_not_retry=True)
    assert int.from_bytes(raw[14:16], "little") == 0x8000 | 0x1BC << 1
    answer = parse_answer(raw)
    assert (answer.result, answer.sq_head, answer.cid, answer.status, answer.do_not_retry) == (
        5,
        9,
        3,
        0x1BC,
        True,
    )


def test_the_header_of_a_transfer():
    raw = transfer_header(PduType.HOST_DATA, 4, Transfer(1, 2, 3, 4), 24, 28)
    assert len(raw) == 24 and parse_header(raw) == (6, 4, 24, 24, 28)
    assert COMMAND_BYTES == 72
