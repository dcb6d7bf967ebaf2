"""The super block of zonefs, which Debian has no program to write (Linux: fs/zonefs/zonefs.h)."""

import struct
import zlib

SUPER_BYTES = 4096
_MAGIC = 0x5A4F4653
_PERMISSIONS = 0o640
_FEATURES = 1 << 3  # the permissions count


def super_block() -> bytes:
    """The block, with its CRC, which the kernel takes without the last inversion."""
    rest = struct.pack("<64s16sQIII", b"flashtrain", bytes(range(16)), _FEATURES, 0, 0, _PERMISSIONS)
    block = bytearray(struct.pack("<II", _MAGIC, 0) + rest).ljust(SUPER_BYTES, b"\0")
    struct.pack_into("<I", block, 4, zlib.crc32(block) ^ 0xFFFF_FFFF)
    return bytes(block)
