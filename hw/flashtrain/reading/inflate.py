"""Compressed bytes (RFC 1950), of which few may stand for many."""

import zlib

from .errors import ContentError


def inflated(raw: bytes | memoryview, most: int) -> bytes:
    """The bytes, `most` of them at most; `ContentError` for more, and for what is not compressed whole."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(raw, most + 1)
    except zlib.error as error:
        raise ContentError(f"not compressed as expected: {error}") from error
    if len(data) > most:
        raise ContentError(f"more than {most:,} bytes when decompressed; expected fewer")
    if not stream.eof or stream.unused_data:
        raise ContentError("the compressed bytes end early, or go on behind their end")
    return data
