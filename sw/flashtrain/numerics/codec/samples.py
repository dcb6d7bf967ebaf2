"""The choices along an append, from samples of its slices.

Equal to `flashtrain.spec.codec.Tracker`, and written without its code: several times as fast.
"""

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.codec import BLOCK, FIRST_CHOICE, SAMPLED, Choice, Mode, element_bytes
from flashtrain.spec.streams import Codec

ZEROS = 256
"""The column of +0.0 in a table of counts, behind those of the exponents."""
DISTANCES = np.arange(-1, 8)
AHEAD = 64
"""Blocks whose counters are taken from the table at a time."""

Sums = list[int]
"""Sums of the counters at `DISTANCES`, then that of +0.0."""


def choices_of(exponents: NDArray[np.uint8], zeros: NDArray[np.bool_], codec: Codec) -> list[Choice]:
    """The choice after each number of whole blocks of an append, from 0 on.

    exponents, zeros: of the elements, [slices, elements of a slice].
    """
    blocks = len(exponents) // BLOCK
    sampled, empty = _samples(exponents, blocks), _samples(zeros, blocks)
    counts, recent = _counts(sampled, empty), _recent(sampled, empty)
    everything = sampled.shape[1] << 6
    zero_bits = 8 * element_bytes(codec)
    now, sums = FIRST_CHOICE, None
    choices = [now]
    rows, start = [], 0
    for block in range(blocks):
        if block == start + len(rows) or now.base != choices[start].base:
            columns = np.append((now.base - DISTANCES) % 256, ZEROS)
            rows, start = counts[block : block + AHEAD, columns].tolist(), block
        now, sums = _next(now, _summed(sums, rows[block - start]), recent[block], everything, zero_bits)
        choices.append(now)
    return choices


def _summed(sums: Sums | None, counters: list[int]) -> Sums:
    """A sum loses a sixteenth and gains four times the counter; the first counts sixteen times as much."""
    if sums is None:
        return [counter << 6 for counter in counters]
    return [old - (old + 15 >> 4) + (new << 2) for old, new in zip(sums, counters, strict=True)]


def _next(
    now: Choice, sums: Sums, recent: int, everything: int, zero_bits: int
) -> tuple[Choice, Sums | None]:
    """The next choice, and the sums relative to its base; no sums after a jump."""
    above, below, zeros = sums[0], sums[7], sums[9]
    reached = sum(sums) - zeros
    outside = everything - zeros - reached
    if outside > reached and outside > everything >> 5:
        base, kept = (recent + 2) % 256, None
    else:
        down, up = below - sums[1], above - sums[6]
        base, kept = now.base, sums
        if max(up, down) > everything >> 6:
            step = 1 if up > down else -1
            base = (base + step) % 256
            kept = sums = [0, *sums[:8], zeros] if step == 1 else [*sums[1:9], 0, zeros]
    inside = sum(sums[1:7])
    saved = (
        0,
        zero_bits * zeros - everything,
        zero_bits * zeros + 8 * inside - 3 * everything,
        8 * (inside + sums[7]) - 3 * everything,
    )
    most = max(saved)
    mode = now.mode
    if most > saved[mode] + (everything >> 5):
        mode = Mode(3 - saved[::-1].index(most))
    return (now if (mode, base) == (now.mode, now.base) else Choice(mode, base)), kept


def _samples(values: NDArray, blocks: int) -> NDArray:
    """The values of sampled slices, [blocks, elements]."""
    sampled = values[: blocks * BLOCK].reshape(blocks, BLOCK, values.shape[1])[:, SAMPLED]
    return sampled.reshape(blocks, len(SAMPLED) * values.shape[1])


def _recent(exponents: NDArray[np.uint8], zeros: NDArray[np.bool_]) -> list[int]:
    """The exponent of the last element not +0.0, up to the end of each block; 0 before there is one."""
    places = np.where(zeros, 0, np.arange(zeros.size).reshape(zeros.shape))
    last = np.maximum.accumulate(places.max(axis=1, initial=0))
    return exponents.reshape(-1)[last].tolist() if zeros.size else []


def _counts(exponents: NDArray[np.uint8], zeros: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Elements of each exponent that are not +0.0, and those that are, [blocks, exponents and one]."""
    blocks = len(exponents)
    keys = np.where(zeros, ZEROS, exponents.astype(np.int64)) + np.arange(blocks)[:, np.newaxis] * (ZEROS + 1)
    return np.bincount(keys.reshape(-1), minlength=blocks * (ZEROS + 1)).reshape(blocks, ZEROS + 1)
