"""The row of a whole training iteration on the performance model."""

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from flashtrain.native.user_cache import select_cache, user_cache
from flashtrain.perf.measurement import BenchmarkError, Cost, Measurement, Result
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.nodes import sharing_platform
from flashtrain.platform.report import run_iteration
from flashtrain.platform.storage import Kind
from flashtrain.platform.workloads import behemoth_workload, workload_sequence
from flashtrain.spec import preset

from .bench_settings import Settings
from .console import Console

NAME = "model_iteration"
WORKLOAD, QUICK_WORKLOAD = "gpt 2x4", "gpt 1x1"
MOST_SECONDS, MOST_BYTES = 60, 200_000_000


class Iteration(NamedTuple):
    """Seconds of the iteration, bytes that it moves to and from both storages, and its cost."""

    seconds: float
    moved: float
    cpu_seconds: float
    peak_bytes: int


def model_iteration(configuration: str, settings: Settings, console: Console) -> Result:
    """The iteration in a process of its own, so that its memory is apart from that of other rows."""
    workload = QUICK_WORKLOAD if settings.quick else WORKLOAD
    console.step(f"an iteration of {workload} on the model")
    with ProcessPoolExecutor(1, get_context("spawn"), select_cache, (user_cache().folder,)) as pool:
        ran = pool.submit(run, configuration, workload).result()
    measured = Measurement(
        value=ran.cpu_seconds,
        unit="s",
        cycles=round(ran.seconds * preset(configuration).timing.clock_hz),
        asked=f"< {MOST_SECONDS} s and {MOST_BYTES / 1e6:.0f} MB",
        met=ran.cpu_seconds < MOST_SECONDS and ran.peak_bytes < MOST_BYTES,
        note=f"{workload}: {ran.seconds:.2f} s of two nodes, {ran.moved / 1e9:,.0f} GB; processor time of the"
        f" process with its imports, peak of its memory {ran.peak_bytes:,} B",
    )
    return Result.of(NAME, configuration, "model", Cost(ran.cpu_seconds, round(ran.moved)), measured)


def run(configuration: str, workload: str) -> Iteration:
    """Play an iteration of the workload on an activation node and a weight node."""
    platform = sharing_platform(FmsModel(preset(configuration)))
    report = run_iteration(workload_sequence(behemoth_workload(workload)), platform)
    moved = sum(
        report.timeline.bytes(f"{part} {kind}") for part in ("storage", "weight storage") for kind in Kind
    )
    return Iteration(report.seconds, moved, time.process_time(), _peak_bytes())


def _peak_bytes() -> int:
    """The most memory of this program: `ru_maxrss` counts the process that started it, too."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise BenchmarkError("/proc/self/status has no VmHWM; expected the peak of the memory")
