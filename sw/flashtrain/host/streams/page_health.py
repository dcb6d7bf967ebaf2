"""The health of an array's pages: corrected bits and repeated reads of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.queues.entries import CompletionEntry
from flashtrain.spec import Completion


@dataclass(frozen=True, eq=False)
class PageHealth:
    """The health of each page of an array, in order; all zeros without error correction.

    - corrected: the corrected bits of the last read; 255: that many or more.
    - retries: the number of repeated reads before it.
    - lost: the page could not be corrected; the other two are 0.
    """

    corrected: NDArray[np.uint8]
    retries: NDArray[np.uint8]
    lost: NDArray[np.bool_]


def page_health(answers: Sequence[CompletionEntry]) -> PageHealth:
    """The health of pages from the completions of their reads, one page each."""
    return PageHealth(
        np.array([Completion.corrected.get(answer.result) for answer in answers], np.uint8),
        np.array([Completion.retries.get(answer.result) for answer in answers], np.uint8),
        np.array([not answer.ok for answer in answers], np.bool_),
    )
