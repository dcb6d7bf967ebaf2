"""An append to its pages."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics.errors import OperandError
from flashtrain.spec.codec import BLOCK, DELAY, PAGE_SIZES, Budget, Choice, Header, Mode, slice_elements
from flashtrain.spec.streams import Codec

from .elements import elements_of, exponents_of
from .lengths import SliceLengths
from .page import fill_page
from .samples import choices_of


def encode(data: bytes | memoryview, codec: Codec, page_bytes: int) -> NDArray[np.uint8]:
    """The pages of an append of these user data, [pages, page_bytes]."""
    if page_bytes not in PAGE_SIZES:
        raise OperandError(f"page_bytes is {page_bytes}; expected one of {PAGE_SIZES}")
    elements = elements_of(data, codec)
    width = slice_elements(codec)
    headers = _headers(elements.reshape(-1, width), codec, page_bytes)
    pages = np.zeros((len(headers), page_bytes), np.uint8)
    for page, header in zip(pages, headers, strict=True):
        fill_page(page, header, elements[header.first * width :][: header.slices * width])
    return pages


def _headers(elements: NDArray, codec: Codec, page_bytes: int) -> list[Header]:
    """Where pages begin, and their modes and bases."""
    exponents, zeros = exponents_of(elements), elements == 0
    choices = choices_of(exponents, zeros, codec)
    lengths = SliceLengths(exponents, zeros, codec, page_bytes)
    budget = Budget.start(page_bytes, codec)
    headers: list[Header] = []
    first, total = 0, len(elements)
    while first < total:
        choice = choices[max(0, first - DELAY) // BLOCK]
        if not budget.allows(choice.mode):
            choice = Choice(Mode.RAW, choice.base)
        slices = lengths.page(first, choice)
        last = first + slices == total
        headers.append(Header(codec, choice, slices, first, last, total if last else 0))
        budget = budget.after(slices)
        first += slices
    return headers
