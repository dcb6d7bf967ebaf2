"""The file that keeps the arrays of a simulated device: where everything in it lies (docs/image.md).

All numbers are little-endian. A record never crosses a page of the operating system, so one write replaces
it as a whole. A record of zeros, such as a sparse file has, is that of an untouched block or page.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

from .config import FmsConfig
from .geometry import Geometry
from .registers import MAX_STREAMS

MAGIC = b"FLASHIMG"
VERSION = 1
UNIT = 4096
"""Regions of the file begin at multiples of this number of bytes."""

HEADER_AT = 0
TEXT_AT = 1 * UNIT
TEXT_ROOM = 3 * UNIT
CLOCK_AT = 4 * UNIT
DIES_AT = 5 * UNIT
NODE_AT = 6 * UNIT
BLOCKS_AT = 7 * UNIT

HEADER = struct.Struct("<8s11I8s2II")
"""`ImageHeader`, and a CRC-32 of its bytes."""
CLOCK = struct.Struct("<dI")
"""The time in seconds, and a CRC-32 of its bytes."""
NODE = struct.Struct(f"<{UNIT - 4}sI")
"""The table of streams of the last device: a text of `spec.node_text`, zeros, and the CRC."""
STREAM = struct.Struct("<3Q4xI")
"""`StreamRecord`, and the CRC."""
ZONE = struct.Struct("<Q4xI")
"""The number of the last drop of one zone of a stream, and the CRC."""
DIE = struct.Struct("<II")
"""`DieFlag`, and the CRC."""
BLOCK = struct.Struct("<4I")
"""`BlockRecord`, and the CRC."""
PAGE = struct.Struct("<IIdI8xI")
"""`PageRecord`, and the CRC."""


MOST_SECONDS = 1 << 53
"""Of a clock or a time: whole seconds up to here are exact in a 64-bit float."""
MOST_COUNT = 1 << 31
"""Of erases and reads of a block: room for as many again before the field ends."""
MOST_GENERATION = 1 << 62
"""Of generations, drops and releases of handles."""


class ImageHeader(NamedTuple):
    """The fields of the header: what the file is, and the configuration that decides on its layout.

    `serial` is a random number. `text_bytes` and `text_crc` belong to the complete
    configuration, a TOML file at `TEXT_AT`.
    """

    magic: bytes
    version: int
    channels: int
    dies: int
    planes: int
    blocks: int
    pages: int
    page_bytes: int
    spare_bytes: int
    spare_blocks: int
    code_strength: int
    randomizer: int
    serial: bytes
    text_bytes: int
    text_crc: int

    @classmethod
    def of(cls, config: FmsConfig, serial: bytes, text: bytes) -> "ImageHeader":
        g = config.geometry
        return cls(
            MAGIC, VERSION, g.channels, g.dies, g.planes, g.blocks, g.pages, g.page_bytes, g.spare_bytes,
            g.spare_blocks, config.code_strength, int(config.randomizer), serial, len(text), crc32(text),
        )  # fmt: skip


class StreamRecord(NamedTuple):
    """The handles of a stream: the generation of new ones, and the numbers of the last drop and release.

    Handles of a generation below one of these are stale.
    """

    generation: int = 0
    drop: int = 0
    released: int = 0


class DieFlag(IntFlag):
    """HUNG: no operation of the die's array ends."""

    HUNG = 1


class BlockFlag(IntFlag):
    """The condition of a block.

    BROKEN: programs and erases fail. MARKED: its maker has marked it as bad. STUCK: an erase has failed by
    the model of errors. CUT: the last erase was cut short, so the next operation must be an erase.
    """

    BROKEN = 1
    MARKED = 2
    STUCK = 4
    CUT = 8


class BlockRecord(NamedTuple):
    """A block: its erases, its reads since the last erase, and `BlockFlag`."""

    erases: int = 0
    reads: int = 0
    flags: int = 0


class PageState(IntEnum):
    """The content of a page that was programmed since its block was erased.

    WHOLE: what a program has written. TORN: the program or an erase was cut short or failed, or the cells
    were changed later; some bits may differ.
    """

    WHOLE = 1
    TORN = 2


class PageRecord(NamedTuple):
    """A programmed page: valid while `erases` equals that of its block.

    `time` is that of the program in seconds, `crc` a CRC-32 of the cells.
    """

    erases: int = 0
    state: int = 0
    time: float = 0.0
    crc: int = 0


@dataclass(frozen=True)
class ImageLayout:
    """Where blocks and pages of a device of this geometry lie in the file, in bytes."""

    geometry: Geometry

    @cached_property
    def block_count(self) -> int:
        return self.geometry.superpage * self.geometry.blocks

    @cached_property
    def streams_at(self) -> int:
        return BLOCKS_AT + _rounded(self.block_count * BLOCK.size)

    @cached_property
    def zones_at(self) -> int:
        """Of the drops of single zones, by stream."""
        return self.streams_at + _rounded(MAX_STREAMS * STREAM.size)

    @cached_property
    def pages_at(self) -> int:
        return self.zones_at + _rounded(MAX_STREAMS * self.geometry.zones * ZONE.size)

    @cached_property
    def cells_at(self) -> int:
        return self.pages_at + _rounded(self.block_count * self.geometry.pages * PAGE.size)

    @cached_property
    def cells_of_block(self) -> int:
        """Bytes from the cells of one block to those of the next, so that each can be freed."""
        return _rounded(self.geometry.pages * self.geometry.raw_page_bytes)

    @property
    def size(self) -> int:
        return self.cells_at + self.block_count * self.cells_of_block

    def block(self, channel: int, die: int, plane: int, block: int) -> int:
        """The number of a block."""
        g = self.geometry
        return ((channel * g.dies + die) * g.planes + plane) * g.blocks + block

    def stream(self, nsid: int) -> int:
        return self.streams_at + (nsid - 1) * STREAM.size

    def zone(self, nsid: int, zone: int) -> int:
        return self.zones_at + ((nsid - 1) * self.geometry.zones + zone) * ZONE.size

    def page_record(self, block: int, page: int) -> int:
        return self.pages_at + (block * self.geometry.pages + page) * PAGE.size

    def cells(self, block: int, page: int) -> int:
        return self.cells_at + block * self.cells_of_block + page * self.geometry.raw_page_bytes


def sealed(layout: struct.Struct, at: int, *fields: int | float | bytes) -> bytes:
    """A record with its CRC, which covers the place `at` too: a record elsewhere is damaged."""
    body = layout.pack(*fields, 0)[:-4]
    return body + crc32(body, crc32(at.to_bytes(8, "little"))).to_bytes(4, "little")


def opened(layout: struct.Struct, at: int, raw: bytes) -> tuple[Any, ...] | None:
    """The fields of a record at `at`; those of zeros if all is zero, None if the CRC is wrong."""
    fields = layout.unpack(raw)[:-1]
    return fields if not any(raw) or raw == sealed(layout, at, *fields) else None


def _rounded(size: int) -> int:
    return -(-size // UNIT) * UNIT
