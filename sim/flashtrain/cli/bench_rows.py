"""Carries out rows of the table of benchmarks, several at a time."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial

from flashtrain.host import open_device
from flashtrain.perf.measurement import Cost, Result
from flashtrain.sim.trace.window import NoTrace
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.registers import Counter
from flashtrain.stress.workers import worker_pool

from .bench_settings import Settings
from .bench_table import Row
from .benchmarks import ALL_BENCHMARKS, BENCHMARKS, SYSTEM_BENCHMARKS, Benchmark, DesignBenchmark
from .console import Console
from .device import memory_bytes
from .links import LINKS, LinkKind, announced
from .run_trace import RunTrace
from .trace_options import TraceRequest

RTL = LINKS["rtl"]


@dataclass(frozen=True)
class RowFailed:
    """The row's benchmark could not be carried out."""

    row: Row
    why: str

    def __str__(self) -> str:
        return f"{self.row.benchmark} on {self.row.configuration}: {self.why}"


def results_of(
    rows: Sequence[Row], configurations: Mapping[str, FmsConfig], settings: Settings, console: Console
) -> Iterator[tuple[int, Result | RowFailed]]:
    """Number of each row, and its result, as they come: several at a time, each in a process of its own.

    Simulated cycles do not depend on the load of the machine. Rows that measure real time run last and alone.
    """
    beside = [number for number, row in enumerate(rows) if not ALL_BENCHMARKS[row.benchmark].alone]
    alone = [number for number in range(len(rows)) if number not in beside]
    attempt = partial(_attempt, configurations, settings=settings, as_json=console.as_json)
    if min(settings.jobs, len(beside)) < 2:
        alone, beside = list(range(len(rows))), []
    if beside:
        with worker_pool(min(settings.jobs, len(beside))) as pool:
            numbers = {pool.submit(attempt, rows[number]): number for number in beside}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
    for number in alone:
        yield number, attempt(rows[number])


def _attempt(
    configurations: Mapping[str, FmsConfig], row: Row, settings: Settings, as_json: bool
) -> Result | RowFailed:
    console = Console(as_json)
    console.step(f"{row.benchmark} on {row.configuration}")
    try:
        if row.benchmark in SYSTEM_BENCHMARKS:
            return SYSTEM_BENCHMARKS[row.benchmark].run(row.configuration, settings, console)
        config = configurations[row.configuration]
        return measure(row, config, settings.quick, console, trace=settings.trace)
    except NoTrace:  # a mistake in the command
        raise
    except FlashtrainError as error:
        return RowFailed(row, str(error))


def measure(
    row: Row, config: FmsConfig, quick: bool, console: Console, link: LinkKind = RTL,
    trace: TraceRequest = TraceRequest(),
) -> Result:  # fmt: skip
    """Carry out one benchmark, on a device of its own behind `link`, which counts cycles."""
    benchmark = BENCHMARKS[row.benchmark]
    if isinstance(benchmark, DesignBenchmark):
        started = time.process_time()
        measured = benchmark.run(config)
        return Result.of(*row, "-", Cost(time.process_time() - started, 0), measured)
    return _measure_device(row, benchmark, benchmark.shape(config), quick, console, link, RunTrace(trace))


def _measure_device(
    row: Row, benchmark: Benchmark, config: FmsConfig, quick: bool, console: Console, link: LinkKind,
    trace: RunTrace,
) -> Result:  # fmt: skip
    factory = trace.around(announced(link, console.step))
    with open_device(
        config,
        factory,
        node=benchmark.node,
        memory_bytes=memory_bytes(config),
        queue_entries=benchmark.queue_entries,
    ) as device:
        trace.start(device)
        started = time.process_time()
        measured = benchmark.run(device, quick)
        seconds = time.process_time() - started
        trace.stop()
        counters = device.counters()
        pages = counters[Counter.PAGES_APPENDED.name] + counters[Counter.PAGES_READ.name]
        cost = Cost(seconds, pages * config.geometry.page_bytes)
        result = Result.of(*row, link.name, cost, measured)
    trace.write()
    trace.report(console)
    return result
