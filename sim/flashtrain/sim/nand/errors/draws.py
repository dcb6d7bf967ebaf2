"""Failures of cells and operations, and hangs: the reference model of `nand/array_errors.h`, bit by bit.

All numbers are drawn from counters: number i of a sequence is a hash of i and of a key. The key is a hash of
seed, purpose, place, erases and, for transient errors, the number of the sense. So no number depends on the
order of operations.

The cells of a page fail in a fixed order as the rate grows. Events come at random moments (a Poisson
process), each at a random cell; a cell is wrong if the first event that hits it comes before -ln(1 - rate)
per cell. That has the probability `rate`, exactly and independently for each cell, and only wrong bits cost
time.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import ErrorModel

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class PagePlace(NamedTuple):
    """A page between two erases of its block. Of a block, where `page` is 0."""

    channel: int
    die: int
    plane: int
    block: int
    page: int = 0
    erases: int = 0


class Purpose(IntEnum):
    """The purpose of a sequence of numbers."""

    CELLS = 0
    TRANSIENT = 1
    PROGRAM = 2
    ERASE = 3
    TORN = 4
    PROGRAM_CUT = 5
    ERASE_CUT = 6
    PROGRAM_HANG = 7
    ERASE_HANG = 8
    SENSE_HANG = 9


def wrong_bits(model: ErrorModel, place: PagePlace, bits: int, sense: int, rate: float) -> NDArray[np.uint32]:
    """Bits of a page of `bits` that a sense of it gets wrong, in order.

    sense: how often the page was sensed before since the erase. Bit 0 is the lowest of the first byte.
    """
    events = -math.log1p(-rate) * bits
    cells = _key(model.seed, Purpose.CELLS, place)
    others = _key(model.seed, Purpose.TRANSIENT, place, sense)
    return np.unique(np.concatenate([
        _hit(cells, bits, events * (1 - model.transient)),
        _hit(others, bits, events * model.transient),
    ]))  # fmt: skip


def program_fails(model: ErrorModel, place: PagePlace) -> bool:
    probability = model.program_failure.at(model.wear_of(place.erases))
    return _fraction(_key(model.seed, Purpose.PROGRAM, place)) <= probability


def erase_fails(model: ErrorModel, place: PagePlace) -> bool:
    """Of the block of that place. `erases`: before this one."""
    probability = model.erase_failure.at(model.wear_of(place.erases))
    return _fraction(_key(model.seed, Purpose.ERASE, place._replace(page=0))) <= probability


def program_hangs(model: ErrorModel, place: PagePlace) -> bool:
    """Whether its die hangs from this program on."""
    return _hangs(model, Purpose.PROGRAM_HANG, place)


def erase_hangs(model: ErrorModel, place: PagePlace) -> bool:
    """Whether its die hangs from this erase of the block on. `erases`: before it."""
    return _hangs(model, Purpose.ERASE_HANG, place._replace(page=0))


def sense_hangs(model: ErrorModel, place: PagePlace, sense: int) -> bool:
    """Whether its die hangs from this sense on. sense: as of :func:`wrong_bits`."""
    return _hangs(model, Purpose.SENSE_HANG, place, sense)


def torn(model: ErrorModel, place: PagePlace, content: bytes) -> bytes:
    """The content of a page when its program has failed: about half of the zeros are ones still."""
    still = _draws(_key(model.seed, Purpose.TORN, place), np.arange(-(-len(content) // 8), dtype=np.uint64))
    ones = still.astype("<u8").view(np.uint8)[: len(content)]
    return (np.frombuffer(content, np.uint8) | ones).tobytes()


def fractions(seed: int, purpose: Purpose, place: PagePlace, count: int) -> NDArray[np.float64]:
    """The first numbers of the sequence, in (0, 1]."""
    return _fractions(_key(seed, purpose, place), np.arange(count, dtype=np.uint64))


def _hangs(model: ErrorModel, purpose: Purpose, place: PagePlace, sense: int = 0) -> bool:
    probability = model.hang.at(model.wear_of(place.erases))
    return _fraction(_key(model.seed, purpose, place, sense)) <= probability


def _hit(key: int, bits: int, until: float) -> NDArray[np.uint32]:
    """Cells that events before `until` hit."""
    most = math.ceil(until + 10 * math.sqrt(until) + 40)  # ten standard deviations and more
    events = np.arange(most, dtype=np.uint64)
    count = np.count_nonzero(np.cumsum(-np.log(_fractions(key, 2 * events))) < until)
    cells = (_draws(key, 2 * events[:count] + np.uint64(1)) >> np.uint64(32)) * np.uint64(bits)
    return (cells >> np.uint64(32)).astype(np.uint32)


def _fraction(key: int) -> float:
    """The first number of the sequence, in (0, 1]."""
    return ((_mix((key + _GOLDEN) & _MASK) >> 11) + 1) * 2.0**-53


def _fractions(key: int, index: NDArray[np.uint64]) -> NDArray[np.float64]:
    return ((_draws(key, index) >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


def _draws(key: int, index: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (index + np.uint64(1)) * np.uint64(_GOLDEN) + np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FACTORS[0])
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_FACTORS[1])
    return z ^ (z >> np.uint64(31))


def _key(seed: int, purpose: Purpose, place: PagePlace, sense: int = 0) -> int:
    key = 0
    for number in (seed, purpose, *place, sense):
        key = _mix(((key ^ number) + _GOLDEN) & _MASK)
    return key


def _mix(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> 30)) * _FACTORS[0] & _MASK
    z = (z ^ (z >> 27)) * _FACTORS[1] & _MASK
    return z ^ (z >> 31)
