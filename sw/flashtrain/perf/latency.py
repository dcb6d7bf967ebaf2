"""The latency of one small append, stage by stage."""

from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port

from .append import STREAM
from .measurement import BenchmarkError, Measurement


class Milestone(IntEnum):
    """Milestones of a command, in order, as visible on the ports of the controller."""

    DOORBELL = 0
    FETCH_BEGINS = 1
    FETCH_ENDS = 2
    DATA_BEGINS = 3
    DATA_ENDS = 4
    ANSWER_BEGINS = 5
    ANSWER_ENDS = 6
    INTERRUPT = 7


STAGES = {
    Milestone.FETCH_BEGINS: "doorbell to fetch",
    Milestone.FETCH_ENDS: "entry from memory",
    Milestone.DATA_BEGINS: "decode, check, reserve",
    Milestone.DATA_ENDS: "data from memory",
    Milestone.ANSWER_BEGINS: "into SRAM, answer",
    Milestone.ANSWER_ENDS: "entry to memory",
    Milestone.INTERRUPT: "interrupt",
}
"""Each stage by the milestone that ends it."""

REPETITIONS = 9


class Passing(NamedTuple):
    """A milestone, and the cycle at which it was passed."""

    milestone: Milestone
    cycle: int


class Recorder(Protocol):
    """A recorder of milestones while the device works."""

    def start(self) -> None: ...

    def stop(self) -> Sequence[Passing]: ...


def append_latency(device: Device, recorder: Recorder, quick: bool = False) -> Measurement:
    """Time from doorbell to interrupt of an append of one block into a volatile stream, on an idle device.

    The median of several; its stages are in the note.
    """
    config = device.config
    stream = device.stream(STREAM, Port.CORE)
    block = device.buffer((config.geometry.page_bytes,), np.uint8)
    first_cycle = device.cycles
    runs = []
    for _ in range(3 if quick else REPETITIONS):
        # Whatever the last one left to do is done by then.
        device.link.run(3 * config.timing.cycles("tprog"))
        recorder.start()
        stream.append(block)
        runs.append(_milestones(recorder.stop()))
    total = sorted(runs, key=lambda run: run[Milestone.INTERRUPT] - run[Milestone.DOORBELL])[len(runs) // 2]
    cycles = total[Milestone.INTERRUPT] - total[Milestone.DOORBELL]
    stages = ", ".join(f"{STAGES[b]} {total[b] - total[a]}" for a, b in pairwise(Milestone))
    return Measurement(
        value=cycles / config.timing.clock_mhz * 1e3,
        unit="ns",
        cycles=device.cycles - first_cycle,
        note=f"{cycles} cycles: {stages}",
    )


def _milestones(passings: Sequence[Passing]) -> dict[Milestone, int]:
    """The cycle of each: of a burst of bursts the beginning of the first and the end of the last."""
    found: dict[Milestone, int] = {}
    ends = (Milestone.FETCH_ENDS, Milestone.DATA_ENDS, Milestone.ANSWER_ENDS)
    for milestone, cycle in passings:
        if milestone not in found or milestone in ends:
            found[milestone] = cycle
    missing = [milestone.name for milestone in Milestone if milestone not in found]
    if missing:
        raise BenchmarkError(f"the trace of an append has no {', '.join(missing)}")
    return found
