"""The content of the drives before a trace."""

from enum import Enum

from flashtrain.traces import Operation

from .array import CommandList, SsdArray
from .commands import ranges


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
        for first, end in zip(*ranges(chosen), strict=True):
            array.fill(int(first), int(end - first))
