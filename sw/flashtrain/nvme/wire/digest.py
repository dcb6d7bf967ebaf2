"""Header and data digests: CRC32C of bytes of any length (NVMe/TCP 1.0, section 3.3.1)."""

from crc32c import crc32c


def digest(data: bytes | bytearray | memoryview) -> bytes:
    """The four bytes of the digest of `data`."""
    return crc32c(data).to_bytes(4, "little")
