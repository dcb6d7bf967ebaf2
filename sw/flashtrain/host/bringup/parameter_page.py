"""The parameter page of an ONFI chip (ONFI 5.1, section 5.7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from flashtrain.spec.chips import DRIVE_OHMS
from flashtrain.spec.nvme import BitField
from flashtrain.spec.onfi import DRIVE_BITS, ZQ_CALIBRATION
from flashtrain.spec.onfi import ParameterPage as Fields
from flashtrain.spec.sdr import SDR_MODES

PAGE_BYTES = Fields.BYTES
SIGNATURE = Fields.SIGNATURE.to_bytes(4, "little")


def crc16(content: bytes) -> int:
    """Of the bytes of a copy before its CRC (ONFI 5.1, section 5.7.1)."""
    crc = Fields.CRC_START
    for byte in content:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ Fields.CRC_POLYNOMIAL if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def is_whole(copy: bytes) -> bool:
    """Whether a copy has the signature and a right CRC."""
    crc_at = Fields.crc.low // 8
    crc = Fields.crc.get(int.from_bytes(copy, "little"))
    return copy[:4] == SIGNATURE and crc16(copy[:crc_at]) == crc


def majority(copies: Sequence[bytes]) -> bytes:
    """Bit by bit, what most of three copies say."""
    return bytes(a & b | a & c | b & c for a, b, c in zip(*copies[:3], strict=True))


@dataclass(frozen=True)
class ParameterPage:
    """The facts that a chip states of itself.

    `source` names the copy. `sdr_modes` are the SDR timing modes that the chip has, ascending, and
    `drive_ohms` the drive strengths that feature 10h can set.
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
        return bool(self.optional_commands >> ZQ_CALIBRATION & 1)

    @classmethod
    def find(cls, copies: Sequence[bytes]) -> Self | None:
        """Of the first whole copy, or of the majority of three; None if neither is whole."""
        for number, copy in enumerate(copies):
            if is_whole(copy):
                return cls.parse(copy, f"copy {number + 1} of {Fields.COPIES}")
        most = majority(copies)
        return cls.parse(most, "the majority of three copies") if is_whole(most) else None

    @classmethod
    def parse(cls, page: bytes, source: str) -> Self:
        fields = int.from_bytes(page, "little")

        def text(field: BitField) -> str:
            return _text(field.get(fields).to_bytes(field.width // 8, "little"))

        modes, drive = Fields.sdr_modes.get(fields), Fields.drive.get(fields)
        numbers = (
            "page_bytes", "spare_bytes", "pages", "blocks", "luns", "bits_per_cell", "program_us", "erase_us",
            "sense_us", "optional_commands", "features",
        )  # fmt: skip
        return cls(
            source=source,
            maker=text(Fields.maker),
            model=text(Fields.model),
            planes=1 << Fields.plane_address_bits.get(fields),
            sdr_modes=tuple(mode for mode in range(len(SDR_MODES)) if modes >> mode & 1),
            drive_ohms=tuple(
                ohms for ohms, bits in zip(DRIVE_OHMS, DRIVE_BITS, strict=True) if drive & bits == bits
            ),
            **{name: getattr(Fields, name).get(fields) for name in numbers},
        )


def _text(raw: bytes) -> str:
    """Printable characters alone, for a chip may send anything."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "?" for byte in raw).strip()
