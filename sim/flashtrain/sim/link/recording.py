"""A recording of the RTL Link in a window of cycles: events, seams of the controller, pages of the arrays."""

from dataclasses import dataclass
from enum import IntEnum

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


class SeamKind(IntEnum):
    """The kind of a transfer over a seam; in brackets the fields of its record."""

    FETCHED = 0  # an entry of a submission queue, to the decoder [port, cid]
    OPENED = 1  # the command is checked and has a tag; its job is sent [port, cid, tag]
    ARRIVED = 2  # a page of it is in the write buffer of its channel [tag]
    DELIVERED = 3  # a page of it is in the tensor buffer [tag]
    ANSWERED = 4  # its answer goes to its completion queue [port, cid, status, result]
    POSTED = 5  # a completion entry is in the tensor buffer [port]
    PAGE_WRITTEN = 10  # a page goes to a channel [tag, place, source, flags: `PageKind`]
    PAGE_PROGRAMMED = 11  # its program has ended, if the command waits for that [tag, flags: failed]
    PAGE_READ = 12  # a page is requested of a channel [tag, place, buffer_block, flags: statistics]
    PAGE_OFFERED = 13  # a channel offers it [tag, buffer_block, flags: 1 if it is from an array]
    BLOCK_REPLACED = 14  # a block takes the place of another [place, source: the new block]


SEAM_RECORD = np.dtype([
    ("clock", np.uint64), ("result", np.uint64), ("buffer_block", np.uint32), ("kind", np.uint16),
    ("channel", np.uint16), ("tag", np.uint16), ("cid", np.uint16), ("port", np.uint16),
    ("status", np.uint16), ("die", np.uint16), ("plane", np.uint16), ("zone", np.uint16),
    ("page", np.uint16), ("source", np.uint16), ("flags", np.uint16), ("unused", np.uint32),
])  # fmt: skip
"""One record of `device/recording.h`. `zone` is physical; `page`, `die` and `plane` are those of a page."""

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
