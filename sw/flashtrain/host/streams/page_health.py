"""How well the flash keeps an array: what it took to have each of its pages right."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.queues.entries import CompletionEntry
from flashtrain.spec import Completion


@dataclass(frozen=True, eq=False)
class PageHealth:
    """Of each page of an array, in order.

    corrected: bits, as it was read at last (255: so many or more); retries: how often it was read again
    before; lost: it could not be corrected, and the other two are 0. All are 0 without error correction.
    """

    corrected: NDArray[np.uint8]
    retries: NDArray[np.uint8]
    lost: NDArray[np.bool_]


def page_health(answers: Sequence[CompletionEntry]) -> PageHealth:
    """From the answers to reads of a page each."""
    return PageHealth(
        np.array([Completion.corrected.get(answer.result) for answer in answers], np.uint8),
        np.array([Completion.retries.get(answer.result) for answer in answers], np.uint8),
        np.array([not answer.ok for answer in answers], np.bool_),
    )
