"""`flashtrain io`: the device exercised like a drive, with job files and options as fio has them."""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from flashtrain.host import open_device
from flashtrain.io import (
    OPTIONS,
    IoRun,
    Job,
    JobError,
    JobResult,
    check_jobs,
    command_line_job,
    load_jobs,
    memory_bytes,
    queue_entries,
)
from flashtrain.io.document import job_document
from flashtrain.io.job import COMMAND_LINE
from flashtrain.io.sweep import Sweep, SweepRow, rows_of, sweep_of
from flashtrain.io.text import job_line, job_text, status_text, verify_lines
from flashtrain.spec import ConfigError, FmsConfig
from flashtrain.spec.streams import SINGLE_NODE

from .command import Command, add_configuration, add_json, add_link, configuration
from .console import Console, table
from .image import add_image, require_new_image
from .links import LINKS, LinkKind, announced
from .outputs import output_folder
from .run_trace import RunTrace
from .trace_options import TraceRequest, add_trace, trace_request

WRONG = 1
NODE = SINGLE_NODE
_DEST = "job_"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [FILE] [--OPTION=VALUE ...] [--sweep OPTION=VALUES] [options]"
    parser.add_argument("file", type=Path, nargs="?", help="job file; its options hold unless given here")
    for option in OPTIONS.values():
        parser.add_argument(
            f"--{option.name}", dest=_DEST + option.name, metavar=option.metavar, help=option.help,
            nargs="?" if option.is_flag else None, const="1" if option.is_flag else None,
        )  # fmt: skip
    parser.add_argument("--sweep", metavar="OPTION=VALUES", help="FIRST..LAST, doubled, or VALUE,VALUE,...")
    parser.add_argument(
        "--output", type=output_folder, metavar="DIR", help="folder for figures (default: none)"
    )
    add_trace(parser)
    add_configuration(parser)
    add_link(parser)
    add_image(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    config, kind = configuration(options), LINKS[options.link]
    jobs = _jobs(options)
    sweep = None if options.sweep is None else sweep_of(options.sweep)
    if sweep is not None and not kind.timed:
        raise JobError("--sweep", "", f"measures time; link {kind.name} has none")
    if sweep is not None and options.image is not None:
        raise JobError("--sweep", "", "is several devices; expected no --image, which keeps one")
    require_new_image(options.image)
    points = [jobs] if sweep is None else [sweep.jobs(jobs, value) for value in sweep.values]
    for point in points:
        check_jobs(point, config, NODE)
    if sweep is None:
        trace = RunTrace(trace_request(options, kind))
        return _run(jobs, config, kind, options, trace, console)
    if options.trace or options.waves:
        raise ConfigError("--trace and --waves are of one run: leave out --sweep")
    return _sweep(sweep, points, config, kind, options.output, console)


def _jobs(options: argparse.Namespace) -> list[Job]:
    given = {name: text for name in OPTIONS if (text := getattr(options, _DEST + name)) is not None}
    if options.file is None:
        return [command_line_job(given)]
    if "name" in given:
        raise JobError(COMMAND_LINE, "name", "is set beside a job file; expected the names of its sections")
    return load_jobs(options.file, given)


def _measured(
    jobs: Sequence[Job], config: FmsConfig, kind: LinkKind, trace: RunTrace, console: Console,
    image: Path | None = None,
) -> list[JobResult]:  # fmt: skip
    """The results of the jobs on a new device."""
    factory = trace.around(announced(kind, console.step))
    memory, entries = memory_bytes(jobs, config), queue_entries(jobs, config)
    with open_device(config, factory, NODE, memory, entries, image=image) as device:
        io = IoRun(device, jobs, kind.timed)
        io.lay_out(console.progress)
        trace.start(device)
        io.measure(console.progress)
        trace.stop()
        io.verify()
        return io.results()


def _run(
    jobs: Sequence[Job], config: FmsConfig, kind: LinkKind, options: argparse.Namespace, trace: RunTrace,
    console: Console,
) -> int:  # fmt: skip
    output: Path | None = options.output
    for job in jobs:
        console.say(job_line(job))
    started = time.monotonic()
    results = _measured(jobs, config, kind, trace, console, options.image)
    wall = time.monotonic() - started
    if not kind.timed:
        console.say(
            f"link {kind.name} has no time: no rate, no runtime, no bandwidth and no latency;"
            " data are checked where verify is set"
        )
    for result in results:
        console.say(f"\n{job_text(result)}")
    if kind.timed:
        console.say(f"\n{status_text(results)}")
    files = _figures(results, output) if kind.timed and output is not None else []
    for file in files:
        console.say(str(file))
    files += trace.write()
    console.document(
        {
            "configuration": config.name,
            "link": kind.name,
            "jobs": [job_document(result) for result in results],
            "wall_seconds": wall,
            "files": [str(file) for file in files],
        }
    )
    trace.report(console)
    return _verdict(results)


def _sweep(
    sweep: Sweep, points: Sequence[Sequence[Job]], config: FmsConfig, kind: LinkKind, output: Path | None,
    console: Console,
) -> int:  # fmt: skip
    rows: list[SweepRow] = []
    documents, every = [], []
    for value, jobs in zip(sweep.values, points, strict=True):
        console.step(f"{sweep.option}={value}")
        results = _measured(jobs, config, kind, RunTrace(TraceRequest()), console)
        rows += rows_of(value, results)
        every += results
        documents.append({sweep.option: value, "jobs": [job_document(result) for result in results]})
    console.say(_table(sweep, rows))
    for result in every:
        if result.wrong_count:
            console.say("\n".join([result.name, *verify_lines(result)]))
    files = []
    if output is not None:
        # Late: the library for figures takes a moment to import.
        from flashtrain.io.figures import draw_sweep

        files.append(output / f"{sweep.option}.png")
        draw_sweep(sweep.option, rows, files[0])
        console.say(str(files[0]))
    console.document(
        {
            "configuration": config.name,
            "link": kind.name,
            "option": sweep.option,
            "points": documents,
            "files": [str(file) for file in files],
        }
    )
    return _verdict(every)


def _table(sweep: Sweep, rows: Sequence[SweepRow]) -> str:
    columns = (sweep.option, "", "MB/s", "IOPS", "avg us", "p50 us", "p99 us", "p99.99 us")
    cells = [
        (
            row.value,
            row.direction.value,
            f"{row.bytes_per_second / 1e6:,.1f}",
            f"{row.iops:,.0f}",
            *(f"{latency / 1e3:,.1f}" for latency in (row.mean, row.median, row.high, row.highest)),
        )
        for row in rows
    ]
    return table(columns, cells, left=2)


def _figures(results: Sequence[JobResult], folder: Path) -> list[Path]:
    # Late: the library for figures takes a moment to import.
    from flashtrain.io.figures import draw_bandwidth, draw_latencies

    files = [folder / "bandwidth.png", folder / "latency.png"]
    draws: Iterable[Callable[[Sequence[JobResult], Path], None]] = (draw_bandwidth, draw_latencies)
    for draw, file in zip(draws, files, strict=True):
        draw(results, file)
    return files


def _verdict(results: Sequence[JobResult]) -> int:
    return WRONG if any(result.wrong_count for result in results) else 0


COMMAND = Command(
    name="io",
    summary="exercise the device like a drive, with job files and options of fio",
    examples="""\
  flashtrain io examples/io/mixed.fio --link model              the jobs of a file
  flashtrain io --rw=append --bs=128k --size=32m --iodepth=16   appends, through the RTL
  flashtrain io --rw=append --bs=128k --size=8m --link model --trace io.json     a trace for Perfetto
  flashtrain io --rw=randread --size=8m --runtime=2ms --time_based --sweep iodepth=1..64 --output build/io

Exit code 1 if verify=crc32c finds a wrong bit.
""",
    add_arguments=add_arguments,
    run=run,
)
