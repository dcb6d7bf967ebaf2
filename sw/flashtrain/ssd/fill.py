"""The content of the drives before a trace."""

from enum import Enum

import numpy as np

from flashtrain.traces import Operation

from .array import CommandList, SsdArray


class Fill(Enum):
    """Pages that are written before the first command: those that the trace reads, all, or none."""

    READ = "read"
    ALL = "all"
    NONE = "none"


def fill_for(array: SsdArray, commands: CommandList, fill: Fill) -> None:
    """Write pages in the order of their addresses, in no time.

    A read of a page that was never written takes no time in the flash. So does the rest of a page that is
    written in part.
    """
    if fill is Fill.ALL:
        array.fill()
    elif fill is Fill.READ:
        chosen = commands[(commands["op"] == Operation.READ) | (commands["partial"] != 0)]
        for first, end in _ranges(chosen):
            array.fill(first, end - first)


def _ranges(commands: CommandList) -> list[tuple[int, int]]:
    """The pages of all commands as ranges (first, end) that neither meet nor overlap, in order."""
    ordered = commands[np.argsort(commands["first"], kind="stable")]
    ends = np.maximum.accumulate(ordered["first"] + ordered["count"])
    if not len(ordered):
        return []
    starts = np.flatnonzero(np.r_[True, ordered["first"][1:] > ends[:-1]])
    last = np.r_[starts[1:] - 1, len(ordered) - 1]
    return list(zip(ordered["first"][starts].tolist(), ends[last].tolist(), strict=True))
