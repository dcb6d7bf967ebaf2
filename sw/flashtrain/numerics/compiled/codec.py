"""The window code (`flashtrain.spec.codec`) in C++: whole appends to pages, and back."""

import ctypes
from functools import cache

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.codec.elements import stored_slices
from flashtrain.spec import codec as spec
from flashtrain.spec.codec import FIRST_CHOICE, SAMPLED, PageHeader, element_bytes
from flashtrain.spec.streams import Codec

from .library import load_kernels

_FIELDS = ("magic", "version", "codec", "mode", "last", "base", "first", "total", "slices")
Bytes = NDArray[np.uint8]


class _Low(ctypes.Structure):
    """The lowest bits of the fields of a header."""

    _fields_ = [(name, ctypes.c_int32) for name in _FIELDS]


class _Contract(ctypes.Structure):
    """`Contract` in codec.cpp."""

    _fields_ = [
        *((name, ctypes.c_int32) for name in (
            "codec", "element_bytes", "rounds", "page_bytes", "header_bytes", "check_bytes",
            "magic", "version",
        )),
        ("low", _Low),
        *((name, ctypes.c_int32) for name in (
            "first_mode", "first_base", "block", "delay", "middle", "memory", "fraction",
        )),
        ("sampled", ctypes.c_int32 * len(SAMPLED)),
    ]  # fmt: skip


@cache
def _contract(codec: Codec, page_bytes: int) -> _Contract:
    low = _Low(*(getattr(PageHeader, name).low for name in _FIELDS))
    return _Contract(
        codec, element_bytes(codec), codec is Codec.ROUND16, page_bytes, spec.HEADER_BYTES, spec.CHECK_BYTES,
        PageHeader.MAGIC, PageHeader.VERSION, low, FIRST_CHOICE.mode, FIRST_CHOICE.base, spec.BLOCK,
        spec.DELAY, spec.MIDDLE, spec.MEMORY, spec.FRACTION, (ctypes.c_int32 * len(SAMPLED))(*SAMPLED),
    )  # fmt: skip


def encode(data: Bytes, codec: Codec, page_bytes: int) -> Bytes:
    """The pages of an append of these user data, whole logical blocks: uint8[pages, page_bytes]."""
    slices = stored_slices(data.nbytes, codec)
    pages = np.empty((spec.bound(-(-data.nbytes // page_bytes), codec, page_bytes), page_bytes), np.uint8)
    contract = _contract(codec, page_bytes)
    count = load_kernels().flashtrain_encode(
        ctypes.byref(contract), data.ctypes.data, slices, pages.ctypes.data
    )
    return pages[:count]


def decode(pages: Bytes, codec: Codec, out: Bytes) -> bool:
    """Decode the pages of an append in their order to `out`; False if a page is refused or out of its place.

    The data of the pages before that one are in `out` then.
    """
    contract = _contract(codec, pages.shape[1])
    return bool(
        load_kernels().flashtrain_decode(
            ctypes.byref(contract), pages.ctypes.data, len(pages), stored_slices(out.nbytes, codec),
            out.ctypes.data,
        )
    )  # fmt: skip
