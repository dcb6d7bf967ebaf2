"""The stored pages of a coded command, as the kernel takes them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import SLICE_BYTES, Header, slice_user_bytes
from flashtrain.spec.streams import Codec

PAGE = np.dtype([("first", np.uint32), ("slices", np.uint16), ("changes", np.uint16)])
"""A page; `CodedPage` in `command.h` has the meaning of the fields."""

BURST_BYTES = 1024
"""Bursts of decoded data end at multiples of it (`flashtrain.rtl.datapath.slice_writer`)."""

MOST_RATIO = 32
"""Blocks of data in a page: one bit per element of FP32 that is +0.0."""

NO_PAGES = np.zeros(0, PAGE)


def pages_of_headers(headers: Sequence[Header | None], codec: Codec, address: int) -> NDArray[np.void]:
    """The pages with these headers, whose data are at `address`; None for a page that is refused."""
    pages = np.zeros(len(headers), PAGE)
    before = None
    for page, header in zip(pages, headers, strict=True):
        if header is not None:
            page["slices"] = header.slices
            page["first"] = _first(header.first, codec, address)
            page["changes"] = before is not None and _changes(before, header)
        before = header
    return pages


def filled_pages(slices: int, stored: int, per_page: float, codec: Codec, address: int) -> NDArray[np.void]:
    """So many pages of an append, whose data are at `address`: full ones, and the last one with the rest.

    slices: of the whole append; per_page: those of a full page, at least one.
    """
    begins = (np.arange(stored + 1) * max(per_page, slices / stored)).astype(np.int64)
    begins[-1] = slices
    pages = np.zeros(stored, PAGE)
    pages["slices"] = np.diff(begins)
    pages["first"] = _first(0, codec, address) + begins[:-1] * (slice_user_bytes(codec) // SLICE_BYTES)
    return pages


def _first(stored_slice: int, codec: Codec, address: int) -> int:
    """The slice of data of a stored slice, counted from a multiple of a burst."""
    return (address % BURST_BYTES + stored_slice * slice_user_bytes(codec)) // SLICE_BYTES


def _changes(before: Header, header: Header) -> bool:
    """Whether the encoder begins the page anew, because its choice is another one."""
    one, other = before.choice, header.choice
    return one.mode != other.mode or (one.mode.exponents > 0 and one.base != other.base)
