"""The best choice of mode and base for each page, by a histogram of the page itself."""

import numpy as np

from flashtrain.numerics.codec.elements import elements_of, exponents_of
from flashtrain.numerics.codec.lengths import SliceLengths
from flashtrain.spec.codec import Choice, Mode, least_slices, slice_elements
from flashtrain.spec.streams import Codec

CANDIDATES = 4
"""Bases of each window that are tried: those with most elements."""


def best_pages(data: bytes, codec: Codec, page_bytes: int) -> int:
    """Pages of an append, each of the choice with which it holds most slices.

    A rule that precedes the page has no such histogram. The bases that are tried are the best of a histogram
    over the slices of a page.
    """
    elements = elements_of(data, codec).reshape(-1, slice_elements(codec))
    exponents, zeros = exponents_of(elements), elements == 0
    lengths = SliceLengths(exponents, zeros, codec, page_bytes)
    span = 2 * least_slices(page_bytes, codec, Mode.RAW)
    pages = first = 0
    while first < len(elements):
        ahead = exponents[first : first + span][~zeros[first : first + span]]
        first += max(lengths.page(first, choice) for choice in _candidates(np.bincount(ahead, minlength=256)))
        pages += 1
    return pages


def _candidates(histogram: np.ndarray) -> list[Choice]:
    choices = [Choice(Mode.RAW, 0), Choice(Mode.MASK, 0)]
    for mode in (Mode.WINDOW, Mode.WINDOW7):
        inside = sum(np.roll(histogram, distance) for distance in range(mode.exponents))
        bases = np.argsort(-np.asarray(inside), kind="stable")[:CANDIDATES]
        choices += [Choice(mode, int(base)) for base in bases]
    return choices
