"""Classes of elements, and the bytes of payload that follow from them."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import ESCAPE, Choice, Mode

Classes = NDArray[np.uint8]


def classes_of(exponents: NDArray[np.uint8], zeros: NDArray[np.bool_], choice: Choice) -> Classes:
    """The class of each element; in `MASK` the bit of its plane, in `RAW` 0."""
    mode = choice.mode
    if mode is Mode.RAW:
        return np.zeros(exponents.shape, np.uint8)
    if mode is Mode.MASK:
        return (~zeros).view(np.uint8)
    classes = np.uint8(choice.base) - exponents
    if mode is Mode.WINDOW7:
        return np.minimum(classes, ESCAPE)
    classes = np.minimum(classes, ESCAPE - 1) + np.uint8(1)
    classes[zeros] = 0
    return classes


def payload_table(mode: Mode, element_bytes: int) -> NDArray[np.uint8]:
    """Bytes of payload of an element of each class."""
    inside, whole = element_bytes - 1, element_bytes
    if mode is Mode.RAW:
        return np.array([whole], np.uint8)
    if mode is Mode.MASK:
        return np.array([0, whole], np.uint8)
    first = 0 if mode is Mode.WINDOW else inside
    return np.array([first, *[inside] * (ESCAPE - 1), whole], np.uint8)
