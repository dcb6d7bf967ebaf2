"""Zone reports: from the device's bytes to one `ZoneInfo` per zone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import ZoneState
from flashtrain.spec.nvme import ReportHeader, ZoneDescriptor


@dataclass(frozen=True)
class ZoneInfo:
    """One zone. start, capacity and write_pointer are in blocks of the stream.

    - write_pointer: None in a zone that accepts no more data.
    - time: the time of the oldest data's append, in seconds of the device's clock; None without data.
    - reset_recommended, finish_recommended: of a full and of an active zone with old data.
    - written: the blocks below the write pointer, in every state.
    - sequence: the number of the data's allocation; None without data.
    - unsure: blocks behind the write pointer may have been written and lost.
    """

    start: int
    state: ZoneState
    capacity: int
    write_pointer: int | None
    time: int | None = None
    reset_recommended: bool = False
    finish_recommended: bool = False
    written: int = 0
    sequence: int | None = None
    unsure: bool = False

    @property
    def is_old(self) -> bool:
        """Whether the data should be saved elsewhere."""
        return self.reset_recommended or self.finish_recommended

    @property
    def room(self) -> int:
        """Blocks that can still be appended."""
        return 0 if self.write_pointer is None else self.start + self.capacity - self.write_pointer


def report_bytes(zones: int) -> int:
    """Bytes of a report on `zones` zones."""
    return ReportHeader.BYTES + zones * ZoneDescriptor.BYTES


def blank_sequences(report: NDArray[np.uint8]) -> None:
    """Overwrite the numbers of allocations in a report, uint8[bytes].

    They depend on the order of commands to all streams. Commands of two ports have no such order.
    """
    for descriptor in range(ReportHeader.BYTES, len(report), ZoneDescriptor.BYTES):
        start = descriptor + ZoneDescriptor.sequence.low // 8
        report[start : start + ZoneDescriptor.sequence.width // 8] = 0xFF


def parse_report(data: bytes) -> list[ZoneInfo]:
    """The zones of a report, as many as both its header and its length include."""
    header = int.from_bytes(data[: ReportHeader.BYTES], "little")
    room = (len(data) - ReportHeader.BYTES) // ZoneDescriptor.BYTES
    zones = []
    for i in range(min(ReportHeader.zones.get(header), room)):
        start = report_bytes(i)
        raw = int.from_bytes(data[start : start + ZoneDescriptor.BYTES], "little")
        pointer, time = ZoneDescriptor.write_pointer.get(raw), ZoneDescriptor.time.get(raw)
        sequence = ZoneDescriptor.sequence.get(raw)
        zones.append(
            ZoneInfo(
                start=ZoneDescriptor.start.get(raw),
                state=ZoneState(ZoneDescriptor.state.get(raw)),
                capacity=ZoneDescriptor.capacity.get(raw),
                write_pointer=None if pointer == ZoneDescriptor.NO_POINTER else pointer,
                time=None if time == ZoneDescriptor.NO_TIME else time,
                reset_recommended=bool(ZoneDescriptor.reset_recommended.get(raw)),
                finish_recommended=bool(ZoneDescriptor.finish_recommended.get(raw)),
                written=ZoneDescriptor.written.get(raw),
                sequence=None if sequence == ZoneDescriptor.NO_SEQUENCE else sequence,
                unsure=bool(ZoneDescriptor.unsure.get(raw)),
            )
        )
    return zones
