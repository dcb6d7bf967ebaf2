"""Pages, in any order, to the user data of their append."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import FlashtrainError
from flashtrain.spec.codec import Header, Refusal
from flashtrain.spec.streams import Codec

from .elements import stored_slices, user_data
from .page import page_elements


class PageRefused(FlashtrainError, ValueError):
    """A page is none of the append; `refusal` says why."""

    def __init__(self, index: int, refusal: Refusal) -> None:
        super().__init__(f"page {index} is refused: {refusal.name}")
        self.refusal = refusal


class PagesIncomplete(FlashtrainError, ValueError):
    """The pages are not each page of an append once."""


def decode_page(page: NDArray[np.uint8], codec: Codec, end: int) -> tuple[Header, bytes] | Refusal:
    """The header of a page of an append of `end` slices, and its user data; or why it is refused."""
    header = Header.unpack(page.tobytes(), codec, end)
    if isinstance(header, Refusal):
        return header
    elements = page_elements(page, header)
    return elements if isinstance(elements, Refusal) else (header, user_data(elements, codec))


def decode(pages: Sequence[NDArray[np.uint8]] | NDArray[np.uint8], codec: Codec, user_bytes: int) -> bytes:
    """The user data of an append of `user_bytes`, from its pages in any order.

    Raises `PageRefused`, and `PagesIncomplete` if a page is missing or there twice.
    """
    end = stored_slices(user_bytes, codec)
    parts: dict[int, tuple[int, bytes]] = {}
    for index, page in enumerate(pages):
        decoded = decode_page(page, codec, end)
        if isinstance(decoded, Refusal):
            raise PageRefused(index, decoded)
        header, data = decoded
        if header.first in parts:
            raise PagesIncomplete(f"two pages begin with slice {header.first}")
        parts[header.first] = header.slices, data
    ordered, slices = [], 0
    for first in sorted(parts):
        if first != slices:
            raise PagesIncomplete(f"a page begins with slice {first}; expected one with slice {slices}")
        ordered.append(parts[first][1])
        slices += parts[first][0]
    if slices != end:
        raise PagesIncomplete(f"the pages have {slices} slices; expected {end}")
    return b"".join(ordered)
