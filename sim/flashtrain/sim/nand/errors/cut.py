"""The cells after an interrupted operation: the reference model of `nand/array_cut.h`, bit by bit.

A cell changes at a moment of its own. That moment is drawn from seed, place and the number of the block's
erases. So the later the cut, the more cells have changed, and never fewer.
"""

import numpy as np

from .draws import PagePlace, Purpose, fractions

EXPONENT = 4
"""An assumption. Most cells program early and erase late, so that what is cut often looks whole."""


def cut_program(seed: int, place: PagePlace, content: bytes, passed: float) -> bytes:
    """The content of a page whose program was cut after this part of its time: some zeros are ones."""
    return _set(seed, Purpose.PROGRAM_CUT, place, content, (1 - passed) ** EXPONENT)


def cut_erase(seed: int, place: PagePlace, content: bytes, passed: float) -> bytes:
    """The content of a page when the erase of its block was cut: some zeros are left."""
    return _set(seed, Purpose.ERASE_CUT, place, content, passed**EXPONENT)


def _set(seed: int, purpose: Purpose, place: PagePlace, content: bytes, probability: float) -> bytes:
    ones = fractions(seed, purpose, place, 8 * len(content)) <= probability
    return (np.frombuffer(content, np.uint8) | np.packbits(ones, bitorder="little")).tobytes()
