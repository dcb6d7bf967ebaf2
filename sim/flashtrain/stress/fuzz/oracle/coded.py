"""Effects of appends to and reads of a stream with a codec."""

from collections.abc import Sequence

import numpy as np

from flashtrain.numerics.codec import PageRefused, PagesIncomplete, decode, encode
from flashtrain.numerics.codec.elements import rounded
from flashtrain.spec import Completion, FmsConfig, Status, Submission
from flashtrain.spec.codec import Header, Refusal, slice_user_bytes
from flashtrain.spec.streams import Codec

from .checks import zone_of
from .state import Encoded, Page, StreamState, append_pages
from .transfers import Effect, Memory, Written

_REFUSED = "a coded page is that of its place in an append of so many expanded blocks"


def append_encoded(entry: int, config: FmsConfig, stream: StreamState, memory: Memory, now: int) -> Effect:
    """The pages of the data are appended; the result has their place and their number."""
    s, c, g, number = Submission, Completion, config.geometry, zone_of(entry, config)
    zone, codec, address = stream.zones[number], stream.rights.codec_of(entry), s.address.get(entry)
    lba = number * g.zone_size + zone.written
    data = memory[address : address + (s.nlb.get(entry) + 1) * g.page_bytes].tobytes()
    pages = encoded(data, codec, g.page_bytes)
    append_pages(zone, list(pages), g.zone_capacity, now, Encoded(codec, len(pages), read_back(data, codec)))
    return Effect(lba | len(pages) << c.stored.low - c.result.low)


def read_encoded(entry: int, config: FmsConfig, stream: StreamState) -> Effect:
    """The data of an append, if the pages are all of it.

    Pages that an append of this device has stored are known by their append. Others are judged by what they
    hold. If nobody has encoded them, but all checks and headers are right, they may be taken.
    """
    s, g = Submission, config.geometry
    zone, codec = stream.zones[zone_of(entry, config)], stream.rights.codec_of(entry)
    first, stored = s.slba.get(entry) % g.zone_size, s.nlb.get(entry) + 1
    address, length = s.address.get(entry), (s.expanded.get(entry) + 1) * g.page_bytes
    one = zone.encoded.get(first)
    if one is not None and (one.codec, one.stored, len(one.data)) == (codec, stored, length):
        return Effect(writes=(Written(address, length, one.data),))
    known = {start + i for start, each in zone.encoded.items() for i in range(each.stored)}
    anything, status = (Written(address, length, None),), Status.CODED_PAGE_ERROR
    some_known = not known.isdisjoint(range(first, first + stored))
    pages = zone.pages[first : first + stored]
    if some_known or not _headers_are_right(pages, codec, length):
        return Effect(0, anything, status, _REFUSED)
    found = _decoded(pages, codec, length)
    if found is None:
        return Effect(0, anything, status, _REFUSED, Status.SUCCESS)
    return Effect(writes=(Written(address, length, found),))


def encoded(data: bytes, codec: Codec, page_bytes: int) -> tuple[bytes, ...]:
    """The pages of an append of these data."""
    return tuple(page.tobytes() for page in encode(data, codec, page_bytes))


def read_back(data: bytes, codec: Codec) -> bytes:
    """The data that a read of an append of these data gives."""
    if codec is not Codec.ROUND16:
        return data
    return (rounded(np.frombuffer(data, "<u4")).astype("<u4") << 16).tobytes()


def _headers_are_right(pages: Sequence[Page], codec: Codec, length: int) -> bool:
    """Whether each page has the check and the header of its place, so that it may be taken."""
    end = length // slice_user_bytes(codec)
    headers = [Header.unpack(_defined(page), codec, end) for page in pages]
    return not any(
        isinstance(header, Refusal) or not header.stands_at(number, len(pages))
        for number, header in enumerate(headers)
    )


def _decoded(pages: Sequence[Page], codec: Codec, length: int) -> bytes | None:
    """The data of pages that nobody has encoded here, if they are those of an append."""
    try:
        return decode([np.frombuffer(_defined(page), np.uint8) for page in pages], codec, length)
    except (PageRefused, PagesIncomplete):
        return None


def _defined(page: Page) -> bytes:
    assert page is not None, "pages of streams with a codec are defined"
    return page
