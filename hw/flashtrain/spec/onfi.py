"""Identification of an ONFI chip: READ ID, and the parameter page (ONFI 5.1, sections 5.6 and 5.7)."""

from enum import IntEnum

from .nvme import BitField


class IdAddress(IntEnum):
    """Addresses of READ ID."""

    JEDEC = 0x00  # the maker's number, and what it likes
    ONFI = 0x20  # the signature of the parameter page


JEDEC_BYTES = 5
"""That bring-up reads of the maker's identification."""


ZQ_CALIBRATION = 13
"""Bit of the optional commands that declares F9h and D9h (ONFI 4.0)."""

DRIVE_BITS = (0b101, 0b011, 0b001, 0b001)
"""Bits of `ParameterPage.drive` that declare each of `spec.chips.DRIVE_OHMS` (ONFI 4.0, byte 151)."""


def _bytes(offset: int, count: int) -> BitField:
    return BitField(8 * offset, 8 * count)


class ParameterPage:
    """Fields of a copy of the parameter page of a chip."""

    BYTES = 256
    COPIES = 3  # at least
    CRC_START = 0x4F4E
    CRC_POLYNOMIAL = 0x8005  # of all bytes before `crc`, the highest bit of each first
    SIGNATURE = int.from_bytes(b"ONFI", "little")

    signature = _bytes(0, 4)
    features = _bytes(6, 2)
    optional_commands = _bytes(8, 2)
    maker = _bytes(32, 12)  # text
    model = _bytes(44, 20)  # text
    page_bytes = _bytes(80, 4)
    spare_bytes = _bytes(84, 2)
    pages = _bytes(92, 4)  # of a block
    blocks = _bytes(96, 4)  # of a LUN
    luns = _bytes(100, 1)
    bits_per_cell = _bytes(102, 1)
    plane_address_bits = BitField(8 * 113, 4)
    sdr_modes = _bytes(129, 2)  # a bit for each mode from 0 on
    program_us = _bytes(133, 2)
    erase_us = _bytes(135, 2)
    sense_us = _bytes(137, 2)
    drive = _bytes(151, 1)  # drive strengths
    crc = _bytes(254, 2)
