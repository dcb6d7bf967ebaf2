"""Figures of a stored page."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import HEADER_BYTES, Choice, Header, element_bytes, payload_end, plane_bytes

from .classes import payload_table
from .page import page_classes


@dataclass(frozen=True)
class PageFigures:
    """The content of a page.

    - choice, slices: of its header.
    - classes: its elements by class.
    - planes, payload, unused: bytes; with the header they fill the page.
    """

    choice: Choice
    slices: int
    classes: tuple[int, ...]
    planes: int
    payload: int
    unused: int


def page_figures(page: NDArray[np.uint8], header: Header) -> PageFigures:
    """Figures of a page that decodes, with this header."""
    lengths = payload_table(header.choice.mode, element_bytes(header.codec))
    counts = np.bincount(page_classes(page, header), minlength=len(lengths))
    planes = header.slices * plane_bytes(header.codec, header.choice.mode)
    payload = int(counts @ lengths.astype(np.int64))
    unused = payload_end(page.size) - HEADER_BYTES - planes - payload
    return PageFigures(header.choice, header.slices, tuple(counts.tolist()), planes, payload, unused)
