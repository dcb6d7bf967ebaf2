"""The workloads of `flashtrain sweep`, by name: an entry each, with what it measures and where it runs."""

import io
from collections.abc import Mapping
from pathlib import Path

from flashtrain.native.user_cache import select_cache
from flashtrain.sweep.limits import Value
from flashtrain.sweep.point import Outcome, Point, Workload, carry_out

from .bench_rows import RTL, measure
from .bench_table import Row
from .benchmarks import BENCHMARKS, Benchmark, DesignBenchmark
from .console import Console
from .links import LINKS
from .sweep_platform import PLATFORM
from .sweep_replay import REPLAY
from .sweep_ssd import SSD_BANDWIDTH
from .sweep_steps import STEP_BOUNDS

TIMED = tuple(kind.name for kind in LINKS.values() if kind.timed)
"""Links on which a benchmark can measure."""

RTL_ONLY = ("append_latency", "wear_spread")
"""Benchmarks of events inside the controller and of blocks' wear, which only the RTL Link shows."""

MEASURED = ("value", "unit", "bound", "share", "met", "cycles", "seconds", "bytes", "note")
"""Fields of a result of a benchmark that are not columns of the point."""


def run_point(point: Point) -> Outcome:
    """The outcome of a point; other processes find this function by its name."""
    return carry_out(WORKLOADS[point.workload], point)


def run_point_with(cache: Path, point: Point) -> Outcome:
    """The same with another cache of compiled simulators than the user's."""
    select_cache(cache)
    return run_point(point)


def _device_bounds(point: Point) -> Mapping[str, Value]:
    config = point.config
    return {
        "capacity_bytes": config.geometry.capacity_bytes,
        "channel_bytes_per_second": config.channel_bytes_per_second,
        "net_channel_bytes_per_second": config.net_channel_bytes_per_second,
        "program_bytes_per_second": config.program_bytes_per_second,
    }


def _benchmark(point: Point) -> Mapping[str, Value]:
    row = Row(point.workload, point.config.name)
    quiet = Console(stderr=io.StringIO())
    kind = LINKS[point.link] if point.link else RTL
    result = measure(row, point.config, point.quick, quiet, kind)
    return {name: getattr(result, name) for name in MEASURED}


def _check_benchmark(point: Point) -> None:
    benchmark = BENCHMARKS[point.workload]
    if isinstance(benchmark, Benchmark):
        benchmark.node.zones(benchmark.shape(point.config).geometry.zones)


def _of_benchmark(name: str, benchmark: Benchmark | DesignBenchmark) -> Workload:
    return Workload(
        f"flashtrain bench {name}",
        _benchmark,
        links=_links(name, benchmark),
        check=_check_benchmark,
        alone=benchmark.alone,
    )


def _links(name: str, benchmark: Benchmark | DesignBenchmark) -> tuple[str, ...]:
    if isinstance(benchmark, DesignBenchmark):
        return ()
    return (RTL.name,) if name in RTL_ONLY else TIMED


WORKLOADS: dict[str, Workload] = {
    "device_bounds": Workload(
        "bounds of channels and arrays, computed from the configuration", _device_bounds
    ),
    "step_bounds": STEP_BOUNDS,
    "replay": REPLAY,
    "platform": PLATFORM,
    "ssd_bandwidth": SSD_BANDWIDTH,
    **{name: _of_benchmark(name, benchmark) for name, benchmark in BENCHMARKS.items()},
}
