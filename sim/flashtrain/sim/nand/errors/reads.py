"""The result of reading a page: the level at which the code can correct it."""

from typing import NamedTuple

import numpy as np

from flashtrain.spec import FmsConfig

from .draws import PagePlace, wrong_bits
from .model import ErrorModel


class PageRead(NamedTuple):
    """How often the page is sensed again, each time one level lower, and the wrong bits found at the end.

    lost: more than can be corrected, at all levels; `wrong` is 0.
    """

    retries: int
    wrong: int
    lost: bool


def read_of(config: FmsConfig, model: ErrorModel, place: PagePlace, days: float = 0.0) -> PageRead:
    """The read of a page that is so old. config: with a code; model: without transient errors."""
    assert config.code is not None and model.transient == 0
    for level in range(config.read_levels + 1):
        rate = model.bit_error_rate(place.erases, days=days, level=level)
        bits = wrong_bits(model, place, 8 * config.geometry.raw_page_bytes, 0, rate)
        wrong = int(np.count_nonzero(bits < 8 * config.bus_page_bytes))
        if wrong <= config.code.strength:
            return PageRead(level, wrong, lost=False)
    return PageRead(config.read_levels, 0, lost=True)
