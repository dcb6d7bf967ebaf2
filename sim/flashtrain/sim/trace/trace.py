"""The event trace of the RTL Link: from records to named intervals on tracks.

A record (`rtl_link.TRACE_RECORD`) is an event as C++ and the NAND model log it; an `Interval` is a span of
time for the reader. `explain` makes a timeline of them and of commands, `figure` draws them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from enum import IntEnum, StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Port
from flashtrain.spec.registers import cq_head_doorbell, sq_tail_doorbell


class Kind(IntEnum):
    """The event of a record. `channel` and `die` name the place of those below 100."""

    SENSE = 0  # the array of a die; `detail` has a bit per plane
    PROGRAM = 1
    ERASE = 2
    COMMAND = 10  # the bus of a channel: command and address cycles; `detail` is the command byte
    DATA_IN = 11  # a page to the die; `detail` is the plane
    DATA_OUT = 12  # a page from the die; `detail` is the plane
    STATUS = 13  # `detail` is the status byte
    BURST = 100  # the address of a burst; `detail` is an `AxiChannel`
    BURST_END = 101  # its last beat
    INTERRUPT_RAISED = 102
    REGISTER_WRITTEN = 103  # `detail` is the register's address


class AxiChannel(IntEnum):
    """One direction of a port on the tensor buffer."""

    QUEUE_READ = 0
    QUEUE_WRITE = 1
    DATA_READ = 2
    DATA_WRITE = 3


class Activity(StrEnum):
    """The activity of an interval."""

    SENSE = "sense"
    PROGRAM = "program"
    ERASE = "erase"
    TRANSFER_IN = "transfer in"
    TRANSFER_OUT = "transfer out"
    COMMAND = "command"
    STATUS = "status"
    BURST = "burst"
    DOORBELL = "doorbell"
    INTERRUPT = "interrupt"
    REGISTER = "register write"


class Track(NamedTuple):
    """A line in a trace viewer, and the group of lines it belongs to."""

    group: str
    name: str


class Interval(NamedTuple):
    """`activity` on `track` from clock `start` to clock `end`; a moment when they are equal."""

    track: Track
    activity: Activity
    start: int
    end: int
    note: str = ""


AXI = "AXI to the tensor buffer"
PORTS = "ports"
REGISTERS = Track(PORTS, "registers")
INTERRUPT = Track(PORTS, "interrupt")

AXI_TRACKS = {
    AxiChannel.QUEUE_READ: Track(AXI, "queue read"),
    AxiChannel.QUEUE_WRITE: Track(AXI, "queue write"),
    AxiChannel.DATA_READ: Track(AXI, "data read"),
    AxiChannel.DATA_WRITE: Track(AXI, "data write"),
}

_ARRAY = {Kind.SENSE: Activity.SENSE, Kind.PROGRAM: Activity.PROGRAM, Kind.ERASE: Activity.ERASE}
_BUS = {
    Kind.COMMAND: Activity.COMMAND,
    Kind.DATA_IN: Activity.TRANSFER_IN,
    Kind.DATA_OUT: Activity.TRANSFER_OUT,
    Kind.STATUS: Activity.STATUS,
}
_DOORBELLS = {
    address(port): (Track(PORTS, f"{port.name.lower()} port"), what)
    for port in Port
    for address, what in ((sq_tail_doorbell, "submission tail"), (cq_head_doorbell, "completion head"))
}


def bus_track(channel: int) -> Track:
    return Track(f"channel {channel}", "bus")


def die_track(channel: int, die: int) -> Track:
    return Track(f"channel {channel}", f"die {die}")


def intervals(records: NDArray[np.void]) -> list[Interval]:
    """The intervals of `records` (dtype `TRACE_RECORD`, in order of their end).

    A burst lasts from its address, or the end of the burst before it, to its last beat. One that has not
    ended is left out, and so is the end of one that began before the trace.
    """
    return list(_intervals(records.tolist()))


def _intervals(records: Iterable[tuple[int, int, int, int, int, int]]) -> Iterator[Interval]:
    waiting: dict[int, deque[int]] = defaultdict(deque)
    last_end: dict[int, int] = defaultdict(int)
    for start, end, number, channel, die, detail in records:
        kind = Kind(number)
        if kind in _ARRAY:
            yield Interval(die_track(channel, die), _ARRAY[kind], start, end, f"planes {_ones(detail)}")
        elif kind in _BUS:
            yield Interval(bus_track(channel), _BUS[kind], start, end, _bus_note(kind, die, detail))
        elif kind is Kind.BURST:
            waiting[detail].append(start)
        elif kind is Kind.BURST_END:
            if waiting[detail]:
                asked = waiting[detail].popleft()
                begin = max(asked, last_end[detail])
                yield Interval(
                    AXI_TRACKS[AxiChannel(detail)], Activity.BURST, begin, end, f"address at clock {asked}"
                )
            last_end[detail] = end
        elif kind is Kind.INTERRUPT_RAISED:
            yield Interval(INTERRUPT, Activity.INTERRUPT, start, end)
        elif detail in _DOORBELLS:
            track, what = _DOORBELLS[detail]
            yield Interval(track, Activity.DOORBELL, start, end, what)
        else:
            yield Interval(REGISTERS, Activity.REGISTER, start, end, f"address {detail:#05x}")


def _bus_note(kind: Kind, die: int, detail: int) -> str:
    match kind:
        case Kind.COMMAND:
            return f"die {die}, command {detail:02X}h"
        case Kind.DATA_IN | Kind.DATA_OUT:
            return f"die {die}, plane {detail}"
        case _:
            return f"die {die}, status {detail:02X}h"


def _ones(mask: int) -> str:
    """The numbers of the bits that are set."""
    return ", ".join(str(bit) for bit in range(mask.bit_length()) if mask >> bit & 1)
