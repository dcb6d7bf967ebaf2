"""The parameter page of an ONFI chip (ONFI 5.1, section 5.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

PAGE_BYTES = 256
LEAST_COPIES = 3
SIGNATURE = b"ONFI"
_CRC_AT = 254
_DRIVE_BITS = {18: 2, 25: 1, 35: 0, 50: 0}
"""Bits of byte 151: the drive strengths beside those that each chip with feature 10h has."""


def crc16(content: bytes) -> int:
    """Of a page's first 254 bytes: polynomial 8005h, start 4F4Eh, the highest bit first (section 5.7.1)."""
    crc = 0x4F4E
    for byte in content:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def is_whole(copy: bytes) -> bool:
    """Whether a copy has the signature and a right CRC."""
    crc = int.from_bytes(copy[_CRC_AT:PAGE_BYTES], "little")
    return copy[:4] == SIGNATURE and crc16(copy[:_CRC_AT]) == crc


def majority(copies: Sequence[bytes]) -> bytes:
    """Bit by bit, what most of three copies say."""
    return bytes(a & b | a & c | b & c for a, b, c in zip(*copies[:3], strict=True))


@dataclass(frozen=True)
class ParameterPage:
    """The facts that a chip states of itself.

    `source` names the copy. `sdr_modes` are the SDR timing modes that the chip has, ascending, and
    `drive_ohms` the drive strengths that feature 10h can set (byte 151).
    """

    source: str
    maker: str
    model: str
    page_bytes: int
    spare_bytes: int
    pages: int  # of a block
    blocks: int  # of a LUN
    luns: int
    planes: int
    bits_per_cell: int
    sdr_modes: tuple[int, ...]
    drive_ohms: tuple[int, ...]
    program_us: int
    erase_us: int
    sense_us: int
    optional_commands: int
    features: int

    @property
    def has_zq_calibration(self) -> bool:
        """Bit 13 of the optional commands (ONFI 4.0)."""
        return bool(self.optional_commands >> 13 & 1)

    @classmethod
    def find(cls, copies: Sequence[bytes]) -> Self | None:
        """Of the first whole copy, or of the majority of three; None if neither is whole."""
        for number, copy in enumerate(copies):
            if is_whole(copy):
                return cls.parse(copy, f"copy {number + 1} of {LEAST_COPIES}")
        most = majority(copies)
        return cls.parse(most, "the majority of three copies") if is_whole(most) else None

    @classmethod
    def parse(cls, page: bytes, source: str) -> Self:
        def number(offset: int, size: int) -> int:
            return int.from_bytes(page[offset : offset + size], "little")

        modes = number(129, 2)
        return cls(
            source=source,
            maker=_text(page[32:44]),
            model=_text(page[44:64]),
            page_bytes=number(80, 4),
            spare_bytes=number(84, 2),
            pages=number(92, 4),
            blocks=number(96, 4),
            luns=page[100],
            planes=1 << (page[113] & 0x0F),
            bits_per_cell=page[102],
            sdr_modes=tuple(mode for mode in range(6) if modes >> mode & 1),
            drive_ohms=tuple(
                ohms for ohms, bit in _DRIVE_BITS.items() if page[151] >> bit & 1 and page[151] & 1
            ),
            program_us=number(133, 2),
            erase_us=number(135, 2),
            sense_us=number(137, 2),
            optional_commands=number(8, 2),
            features=number(6, 2),
        )


def _text(raw: bytes) -> str:
    """Printable characters alone, for a chip may send anything."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "?" for byte in raw).strip()
