"""Block traces as commands of an array of drives."""

import numpy as np

from flashtrain.traces import BlockTrace, Operation
from flashtrain.traces.block_trace import SECTOR_BYTES

from .array import CommandList
from .config import SsdConfig
from .kernel import COMMAND


def commands_of(trace: BlockTrace, config: SsdConfig, pack: bool = False) -> CommandList:
    """The commands of a trace. A trim counts for whole pages only.

    pack: number the pages that the trace reads or writes from 0, in the order of their addresses. A trace of
    a larger device then fits. :class:`TraceError` names the line of a command beyond the end of the
    array.
    """
    commands = _in_pages(trace, config)
    if pack:
        _pack(commands)
    pages = config.capacity_bytes // config.geometry.page_bytes
    ends = commands["first"] + commands["count"]
    for index in np.flatnonzero(ends > pages)[:1]:
        sectors, per_page = int(ends[index]), config.geometry.page_bytes // SECTOR_BYTES
        raise trace.error(
            int(index),
            f"sectors up to {sectors * per_page}; expected at most {pages * per_page}, the capacity",
        )
    return commands


def _in_pages(trace: BlockTrace, config: SsdConfig) -> CommandList:
    records, page = trace.records, config.geometry.page_bytes // SECTOR_BYTES
    begins, ends = records["lba"], records["lba"] + records["sectors"]
    trims, writes = records["op"] == Operation.TRIM, records["op"] == Operation.WRITE
    first = np.where(trims, -(-begins // page), begins // page)
    last = np.where(trims, ends // page, -(-ends // page))
    commands = np.zeros(len(records), COMMAND)
    commands["time"] = (records["time"] - records["time"].min()) * config.timing.clock_mhz // 1000
    commands["first"], commands["op"] = first, records["op"]
    commands["count"] = np.where(records["op"] == Operation.FLUSH, 0, np.maximum(last - first, 0))
    commands["partial"] = np.where(writes, (begins % page != 0) + 2 * (ends % page != 0), 0)
    return commands


def _pack(commands: CommandList) -> None:
    data = (commands["op"] == Operation.READ) | (commands["op"] == Operation.WRITE)
    begins, ends = ranges(commands[data])
    before = np.r_[0, np.cumsum(ends - begins)]  # pages in use before each range, and all

    def rank(pages: np.ndarray) -> np.ndarray:
        """The pages in use below each page."""
        index = np.searchsorted(begins, pages, "right") - 1
        inside = np.minimum(pages, ends[index]) - begins[index]
        return np.where(index < 0, 0, before[index] + inside)

    if len(begins):
        first, last = rank(commands["first"]), rank(commands["first"] + commands["count"])
        commands["first"], commands["count"] = first, last - first


def ranges(commands: CommandList) -> tuple[np.ndarray, np.ndarray]:
    """The pages of all commands as ranges that neither meet nor overlap: their begins and ends, int64[n]."""
    ordered = commands[np.argsort(commands["first"], kind="stable")]
    ends = np.maximum.accumulate(ordered["first"] + ordered["count"])
    if not len(ordered):
        return ends, ends
    starts = np.flatnonzero(np.r_[True, ordered["first"][1:] > ends[:-1]])
    return ordered["first"][starts], ends[np.r_[starts[1:] - 1, len(ordered) - 1]]
