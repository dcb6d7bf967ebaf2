"""What the RTL Link has recorded in a window of cycles: events, seams of the controller, pages of the arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TRACE_RECORD = np.dtype([
    ("start", np.uint64), ("end", np.uint64),
    ("kind", np.uint16), ("channel", np.uint16), ("die", np.uint16), ("detail", np.uint16),
])  # fmt: skip
"""One record of the event trace, as the C++ side writes it; times in cycles."""

ARRAY_PAGE = np.dtype([
    ("start", np.uint64), ("end", np.uint64),
    ("kind", np.uint16), ("channel", np.uint16), ("die", np.uint16), ("plane", np.uint16),
    ("block", np.uint32), ("page", np.uint32),
])  # fmt: skip
"""A page that an array has sensed or programmed, or a block that it has erased (`nand/array_log.cpp`)."""

NEVER = (1 << 64) - 1
MOST_RECORDS = 4_000_000
"""Of events and seams in a recording; 32 bytes each at most."""


@dataclass(frozen=True)
class RtlRecording:
    """Records in the order of their ends.

    - window: first cycle, and the first one that is not recorded any more; None: it has not begun.
    - full: it has ended early, because there were too many events.
    """

    events: NDArray[np.void]
    seams: NDArray[np.void]
    pages: NDArray[np.void]
    window: tuple[int, int] | None
    full: bool
