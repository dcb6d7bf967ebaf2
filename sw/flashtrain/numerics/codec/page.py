"""A page: its slices to planes and payload, and back."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import (
    CHECK_BYTES,
    ESCAPE,
    HEADER_BYTES,
    Choice,
    Header,
    Mode,
    Refusal,
    element_bytes,
    page_check,
    payload_end,
    plane_bytes,
    slice_elements,
)
from flashtrain.spec.streams import Codec

from .classes import Classes, classes_of, payload_table
from .elements import Elements, element_type, exponents_of

Page = NDArray[np.uint8]


def fill_page(page: Page, header: Header, elements: Elements) -> None:
    """Write header, planes, payload and check of these elements into a page of zeros."""
    codec, mode = header.codec, header.choice.mode
    page[:HEADER_BYTES] = np.frombuffer(header.pack(), np.uint8)
    classes = classes_of(exponents_of(elements), elements == 0, header.choice)
    planes = _planes(classes, codec, mode)
    page[HEADER_BYTES : HEADER_BYTES + planes.size] = planes
    octets = elements.astype(element_type(codec), copy=False).view(np.uint8).reshape(elements.size, -1)
    payload = octets[_present(classes, codec, mode)]
    end = payload_end(page.size)
    page[end - payload.size : end] = payload[::-1]
    page[end:] = np.frombuffer(page_check(page[:end].tobytes()).to_bytes(CHECK_BYTES, "little"), np.uint8)


def page_elements(page: Page, header: Header) -> Elements | Refusal:
    """The elements of a page with this header, or `Refusal.OVERLAP`."""
    codec, choice = header.codec, header.choice
    room = payload_end(page.size) - HEADER_BYTES - header.slices * plane_bytes(codec, choice.mode)
    if room < 0:
        return Refusal.OVERLAP
    classes = page_classes(page, header)
    present = _present(classes, codec, choice.mode)
    payload = int(present.sum())
    if payload > room:
        return Refusal.OVERLAP
    octets = np.zeros(present.shape, np.uint8)
    octets[present] = page[: payload_end(page.size)][::-1][:payload]
    if choice.mode.exponents:
        octets[:, -1] = np.where(classes == ESCAPE, octets[:, -1], _window(choice)[classes])
    return octets.view(element_type(codec)).reshape(-1)


def page_classes(page: Page, header: Header) -> Classes:
    """Classes of the elements, as `classes_of` says; the planes lie within the page."""
    mode, elements = header.choice.mode, slice_elements(header.codec)
    if mode is Mode.RAW:
        return np.zeros(header.slices * elements, np.uint8)
    planes = page[HEADER_BYTES : HEADER_BYTES + header.slices * plane_bytes(header.codec, mode)]
    bits = np.unpackbits(planes, bitorder="little").reshape(header.slices, mode.plane_bits, elements)
    classes = bits[:, 0]
    for plane in range(1, mode.plane_bits):
        classes = classes | bits[:, plane] << np.uint8(plane)
    return classes.reshape(-1)


def _planes(classes: Classes, codec: Codec, mode: Mode) -> NDArray[np.uint8]:
    planes = np.arange(mode.plane_bits, dtype=np.uint8)
    bits = classes.reshape(-1, 1, slice_elements(codec)) >> planes[:, np.newaxis] & 1
    return np.packbits(bits, bitorder="little")


def _present(classes: Classes, codec: Codec, mode: Mode) -> NDArray[np.bool_]:
    """Which bytes of each element are in the payload, [elements, bytes]."""
    size = element_bytes(codec)
    lengths = payload_table(mode, size)
    present = np.empty((classes.size, size), np.bool_)
    present[:, :-1] = (lengths > 0)[classes][:, np.newaxis]
    present[:, -1] = (lengths == size)[classes]
    return present


def _window(choice: Choice) -> NDArray[np.uint8]:
    """The exponent of each class; 0 for +0.0 and for whole elements."""
    first = 1 if choice.mode.zero_class else 0
    table = np.zeros(ESCAPE + 1, np.uint8)
    table[first:ESCAPE] = np.uint8(choice.base) - np.arange(ESCAPE - first, dtype=np.uint8)
    return table
