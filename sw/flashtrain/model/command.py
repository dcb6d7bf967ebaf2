"""Commands for the kernel: what of a submission entry takes time."""

from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.functional.executor import Answer
from flashtrain.host.functional.streams import StreamSettings
from flashtrain.host.functional.submission_entry import SubmissionEntry
from flashtrain.spec import FmsConfig, Opcode, Port, Status, ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.streams import Codec

COMMAND = np.dtype([
    ("id", np.uint32), ("zone", np.uint32), ("offset", np.uint32), ("blocks", np.uint32),
    ("first", np.uint32), ("zones", np.uint32), ("count", np.uint32), ("compute", np.uint32),
    ("pages", np.uint32),
    ("job", np.uint8), ("port", np.uint8), ("stream", np.uint8), ("source", np.uint8),
    ("last_page", np.uint8), ("copies", np.uint8), ("flags", np.uint8), ("by_physical", np.uint8),
])  # fmt: skip
"""A command as the kernel takes it; `command.h` has the meaning of the fields."""


class Job(IntEnum):
    """The work of a command in the kernel."""

    ANSWER = 0
    APPEND = 1
    READ = 2
    UPDATE = 3
    CONSTANTS = 4
    STATISTICS = 5
    FLUSH = 6
    RESET_STREAM = 7
    RESET_ZONE = 8
    GENERATION = 9
    COMMIT = 10
    LOOP = 11
    REPORT = 12
    MAP_ZONE = 13
    RELEASE_ZONE = 14
    END_RECOVERY = 15


class Flag(IntFlag):
    NON_VOLATILE = 1
    DROPS_SOURCE = 2
    CODED = 4
    ROUNDED = 8


_DESCRIPTOR_BYTES = 64
_MOVES_DATA = (
    Status.SUCCESS, Status.UNRECOVERED_READ_ERROR, Status.WRITE_FAULT, Status.CODED_PAGE_ERROR,
)  # fmt: skip


def coded_pages(commands: NDArray[np.void]) -> int:
    """The stored pages that the coded ones of these commands move."""
    are_coded = commands["flags"] & Flag.CODED > 0
    if not are_coded.any():
        return 0
    coded = commands[are_coded]
    return int(np.where(coded["job"] == Job.READ, coded["blocks"], coded["count"]).sum())


def kernel_command(
    config: FmsConfig,
    streams: dict[int, StreamSettings],
    port: Port,
    entry: SubmissionEntry,
    answer: Answer,
    compute: int,
    source_pinned: bool,
    pages: int = 0,
) -> NDArray[np.void]:
    """A record of dtype `COMMAND`, [1], of an entry whose answer is known.

    - compute: cycles of the update unit for a tile.
    - source_pinned: a commit keeps its source.
    - pages: stored pages that it moves, if it is coded.
    """
    command = np.zeros(1, COMMAND)
    row = command[0]
    row["port"], row["stream"] = port, entry.nsid & 0xFF
    if answer.status not in _MOVES_DATA:
        return command
    stream = streams[entry.nsid]
    # A command of a whole stream, or of the dies, may have any address.
    has_place = entry.names_zone or entry.opcode == Opcode.INSPECT
    index, offset = divmod(entry.slba, config.geometry.zone_size) if has_place else (0, 0)
    row["zone"], row["offset"], row["blocks"] = stream.first + index, offset, entry.blocks
    row["first"], row["zones"] = stream.first, stream.zones
    row["last_page"] = config.geometry.planes - 1
    row["flags"] = Flag.NON_VOLATILE if stream.non_volatile else 0
    if pages:
        rounds = entry.codec(stream.codec) is Codec.ROUND16
        row["flags"] |= Flag.CODED | (Flag.ROUNDED if rounds else 0)
    row["job"] = Job.ANSWER
    match entry.opcode:
        case Opcode.ZONE_APPEND | Opcode.WRITE:
            row["job"] = Job.APPEND
            if entry.opcode == Opcode.ZONE_APPEND:
                row["offset"], row["count"] = answer.result % config.geometry.zone_size, pages
        case Opcode.READ:
            row["job"] = Job.READ
        case Opcode.UPDATE:
            row["job"], row["source"] = Job.UPDATE, entry.source & 0xFF
            row["offset"] = answer.result % config.geometry.zone_size
            row["last_page"], row["copies"], row["compute"] = entry.pages - 1, entry.copies, compute
        case Opcode.SET_CONSTANTS:
            row["job"], row["by_physical"] = Job.CONSTANTS, 1
            row["zone"], row["offset"], row["last_page"] = 0, 0, 0
        case Opcode.GET_STATISTICS:
            row["job"], row["by_physical"] = Job.STATISTICS, 1
            row["zone"], row["offset"] = 0, 0
        case Opcode.INSPECT:
            row["job"], row["by_physical"], row["zone"] = Job.READ, 1, index
        case Opcode.FLUSH:
            row["job"], row["by_physical"], row["zone"] = Job.FLUSH, 1, 0
        case Opcode.STREAM_RESET:
            row["job"] = Job.RESET_STREAM
        case Opcode.ZONE_MANAGEMENT_SEND:
            resets = entry.action == ZoneAction.RESET
            if entry.select_all:
                row["job"], row["count"] = Job.RESET_STREAM if resets else Job.LOOP, stream.zones
            elif resets:
                row["job"] = Job.RESET_ZONE
        case Opcode.ZONE_MANAGEMENT_RECEIVE:
            row["job"] = Job.REPORT
            room = max(0, entry.report_bytes // _DESCRIPTOR_BYTES - 1)
            row["count"] = min(room, stream.zones - index)
        case Opcode.GENERATION:
            row["job"] = Job.GENERATION
            if entry.action == GenerationAction.COMMIT:
                source = streams[entry.source]
                row["job"], row["source"], row["count"] = Job.COMMIT, entry.source & 0xFF, source.zones
                row["first"], row["zones"] = source.first, source.zones
                row["flags"] = 0 if source_pinned else Flag.DROPS_SOURCE
        case Opcode.RESTORE:
            if entry.action == RestoreAction.ZONE:
                row["job"], row["count"] = Job.MAP_ZONE, entry.physical
            elif entry.action == RestoreAction.PHYSICAL:
                row["job"], row["count"] = Job.RELEASE_ZONE, entry.physical
            elif entry.action == RestoreAction.END:
                row["job"] = Job.END_RECOVERY
    return command
