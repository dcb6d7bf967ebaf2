"""How fast the performance model is: pages of a workload per second of processor time."""

import resource
import time
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from flashtrain.model.command import COMMAND, Job
from flashtrain.model.kernel import Kernel
from flashtrain.spec import FmsConfig, Port

from .measurement import Measurement

DEPTH = 4
RANDOM_DEPTH = 256


class Workload(Enum):
    """Commands of the most blocks in the order of addresses, or reads of one block each at random places."""

    APPENDS = "appends"
    READS = "reads"
    RANDOM_READS = "random reads of a block"

    @property
    def unit(self) -> str:
        """The smallest piece of work."""
        return "read" if self is Workload.RANDOM_READS else "row of pages"


@dataclass(frozen=True)
class Case:
    """So many pages of a workload, and the pages per second of processor time that are asked for."""

    workload: Workload
    pages: int
    asked: float


SEQUENTIAL = Case(Workload.APPENDS, 64_000_000, 200e6)
SEQUENTIAL_READS = Case(Workload.READS, 64_000_000, 200e6)
RANDOM = Case(Workload.RANDOM_READS, 400_000, 20e6)


def model_speed(config: FmsConfig, case: Case) -> Measurement:
    """Pages per second of processor time. No data move, and no Python runs between the commands.

    Sequential commands move whole rows of pages, and one channel stands for all.
    """
    kernel = Kernel(config, whole_rows=case.workload is not Workload.RANDOM_READS)
    kernel.run(kernel.enable(erased=True, recovers=False))
    kernel.set_queue_size(Port.CORE, RANDOM_DEPTH + 1)
    commands = _commands(config, case)
    begin, events, started = kernel.now, kernel.events, time.process_time()
    end = kernel.play(commands, RANDOM_DEPTH if case.workload is Workload.RANDOM_READS else DEPTH)
    seconds, events = time.process_time() - started, kernel.events - events
    kernel.close()
    pages = len(commands) * _blocks(config, case)
    units = len(commands) * int(commands["blocks"][0])
    simulated = (end - begin) / config.timing.clock_hz
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return Measurement(
        value=pages / seconds,
        unit="pages/s",
        cycles=end - begin,
        asked=f"{case.asked:,.0f}",
        met=pages / seconds >= case.asked,
        note=f"{case.workload.value}: {pages:,} pages, {simulated:.3f} s of the device in {seconds:.2f} s,"
        f" {events / units:.1f} events a {case.workload.unit},"
        f" {pages * config.geometry.page_bytes / simulated / 1e9:.2f} GB/s; peak of the process {peak:,} B",
    )


def _blocks(config: FmsConfig, case: Case) -> int:
    """Blocks of a command: whole rows, but for one block each at random."""
    if case.workload is Workload.RANDOM_READS:
        return 1
    channels = config.geometry.channels
    return config.max_blocks // channels * channels


def _commands(config: FmsConfig, case: Case) -> NDArray[np.void]:
    """The commands for the kernel; after the last zone come those of the first again."""
    g, blocks = config.geometry, _blocks(config, case)
    commands = np.zeros(case.pages // blocks, COMMAND)
    commands["port"], commands["stream"], commands["last_page"] = Port.CORE, 1, g.planes - 1
    if case.workload is Workload.RANDOM_READS:
        random = np.random.default_rng(1)
        commands["job"], commands["blocks"] = Job.READ, 1
        commands["offset"] = random.integers(0, g.zone_capacity, len(commands))
        return commands
    rows, of_zone = blocks // g.channels, g.zone_capacity // blocks
    numbers = np.arange(len(commands))
    commands["job"] = Job.APPEND if case.workload is Workload.APPENDS else Job.READ
    commands["blocks"] = rows
    commands["zone"] = numbers // of_zone % g.zones
    commands["offset"] = numbers % of_zone * rows
    return commands
