"""`flashtrain io`: the device exercised like a drive, with job files and options as fio has them."""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from pathlib import Path

from flashtrain.host import open_device
from flashtrain.io import (
    OPTIONS,
    FlashDrive,
    IoRun,
    Job,
    JobError,
    JobResult,
    SsdDrive,
    command_line_job,
    jobs_for_flash,
    jobs_for_ssd,
    load_jobs,
    memory_bytes,
    queue_entries,
)
from flashtrain.io.document import job_document
from flashtrain.io.drive import Drive
from flashtrain.io.fio import ALIASES, IGNORED, REFUSED
from flashtrain.io.job import COMMAND_LINE
from flashtrain.io.options import COMMON
from flashtrain.io.sweep import Sweep, SweepRow, rows_of, sweep_of
from flashtrain.io.text import ignored_lines, job_line, job_text, status_text, verify_lines
from flashtrain.spec import ConfigError, FmsConfig
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.ssd import SsdConfig
from flashtrain.ssd.config import DRIVES_OF_DEVICE, least_over_provisioning
from flashtrain.ssd.fit import drive_named

from .command import Command, add_configuration, add_format, add_json, add_link, configuration
from .console import Console, table
from .device import board_device, check_format
from .image import add_image, require_new_image
from .links import LINKS, announced
from .outputs import output_folder
from .run_trace import RunTrace
from .trace_options import TraceRequest, add_trace, trace_request

WRONG = 1
NODE = SINGLE_NODE
FMS, SSD = "fms", "ssd"
"""Values of `--drive`, beside files."""
_DEST = "job_"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [FILE] [--OPTION=VALUE ...] [--sweep OPTION=VALUES] [options]"
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="job file; its options hold unless given here (all options: docs/io.md)",
    )
    for option in OPTIONS.values():
        parser.add_argument(
            f"--{option.name}", dest=_DEST + option.name, metavar=option.metavar,
            help=option.help if option.name in COMMON else argparse.SUPPRESS,
            nargs="?" if option.is_flag else None, const="1" if option.is_flag else None,
        )  # fmt: skip
    for name in (*ALIASES, *IGNORED, *REFUSED):  # what people have in their command lines of fio
        parser.add_argument(
            f"--{name}", dest=_DEST + name, nargs="?", const="1", help=argparse.SUPPRESS
        )  # fmt: skip
    parser.add_argument("--sweep", metavar="OPTION=VALUES", help="FIRST..LAST, doubled, or VALUE,VALUE,...")
    parser.add_argument(
        "--drive", default=FMS, metavar="KIND",
        help="fms: the flash memory system; ssd: conventional SSDs of the same parts; a file of one drive,"
        " or a data sheet (`flashtrain ssd bench --help`) (default: fms)",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=int, choices=(1, DRIVES_OF_DEVICE), default=DRIVES_OF_DEVICE, metavar="N",
        help=f"with --drive ssd: drives in RAID 0, 1 or {DRIVES_OF_DEVICE} (default: {DRIVES_OF_DEVICE})",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=output_folder, metavar="DIR", help="folder for figures (default: none)"
    )
    add_trace(parser)
    add_configuration(parser)
    add_link(parser, boards=True)
    add_format(parser)
    add_image(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    bench = _FlashBench(options, console) if options.drive == FMS else _SsdBench(options)
    sweep = None if options.sweep is None else sweep_of(options.sweep)
    if sweep is not None and not bench.timed:
        raise JobError("--sweep", "", f"measures time; {bench.name} has none")
    if sweep is not None and options.image is not None:
        raise JobError("--sweep", "", "is several devices; expected no --image, which keeps one")
    require_new_image(options.image)
    jobs = _jobs(options)
    points = [jobs] if sweep is None else [sweep.jobs(jobs, value) for value in sweep.values]
    points = [bench.accepted(point) for point in points]
    if sweep is None:
        return _run(points[0], bench, options.output, console)
    if options.trace or options.waves:
        raise ConfigError("--trace and --waves are of one run: leave out --sweep")
    return _sweep(sweep, points, bench, options.output, console)


def _jobs(options: argparse.Namespace) -> list[Job]:
    names = (*OPTIONS, *ALIASES, *IGNORED, *REFUSED)
    given = {name: text for name in names if (text := getattr(options, _DEST + name)) is not None}
    if options.file is None:
        return [command_line_job(given)]
    if "name" in given:
        raise JobError(COMMAND_LINE, "name", "is set beside a job file; expected the names of its sections")
    return load_jobs(options.file, given)


class _FlashBench:
    """The flash memory system for jobs, opened anew for each run."""

    in_place = False

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.config: FmsConfig = configuration(options)
        self._kind = LINKS[options.link]
        self.name, self.timed = f"link {self._kind.name}", self._kind.timed or self._kind.kept
        self.document = {"configuration": self.config.name, "link": self._kind.name}
        self.trace = RunTrace(trace_request(options, self._kind))
        self._image: Path | None = options.image
        self._options = options
        self._console = console

    def accepted(self, jobs: Sequence[Job]) -> list[Job]:
        return jobs_for_flash(jobs, self.config, NODE)

    @contextmanager
    def opened(self, jobs: Sequence[Job]) -> Iterator[Drive]:
        if self._kind.kept:
            with board_device(self._kind, self.config, NODE, self._options) as device:
                yield FlashDrive(device, self.timed)
            return
        check_format(self._options)
        factory = self.trace.around(announced(self._kind, self._console.step))
        memory, entries = memory_bytes(jobs, self.config), queue_entries(jobs, self.config)
        with open_device(self.config, factory, NODE, memory, entries, image=self._image) as device:
            yield FlashDrive(device, self.timed)


class _SsdBench:
    """Conventional drives for jobs, new for each run; :class:`ConfigError` for options of the other kind."""

    in_place = timed = True

    def __init__(self, options: argparse.Namespace) -> None:
        for name in ("image", "trace", "waves", "format"):
            if getattr(options, name):
                raise ConfigError(f"--{name}: is of the flash memory system; leave out --drive ssd")
        if options.drive == SSD:
            config = configuration(options)
            # Devices of few blocks have too little of it by default.
            least = least_over_provisioning(config.geometry.blocks, SsdConfig.gc_start)
            share = max(SsdConfig.over_provisioning, ceil(1000 * least) / 1000)
            self._config = SsdConfig.of(config, options.count, over_provisioning=share)
        else:
            self._config = replace(drive_named(options.drive), drives=options.count)
        self.name = f"{options.count} of {self._config.name}"
        self.document = {"configuration": self._config.name, "drives": options.count}
        self.trace = RunTrace(TraceRequest())

    def accepted(self, jobs: Sequence[Job]) -> list[Job]:
        return jobs_for_ssd(jobs, self._config)

    @contextmanager
    def opened(self, jobs: Sequence[Job]) -> Iterator[Drive]:
        with SsdDrive(self._config, jobs) as drive:
            yield drive


_Bench = _FlashBench | _SsdBench


def _measured(jobs: Sequence[Job], bench: _Bench, console: Console) -> list[JobResult]:
    """The results of the jobs on a new drive."""
    with bench.opened(jobs) as drive:
        io = IoRun(drive, jobs)
        io.lay_out(console.progress)
        if isinstance(drive, FlashDrive):
            bench.trace.start(drive.device)
        io.measure(console.progress)
        bench.trace.stop()
        io.verify()
        return io.results()


def _run(jobs: Sequence[Job], bench: _Bench, output: Path | None, console: Console) -> int:
    for line in (*(job_line(job, bench.in_place) for job in jobs), *ignored_lines(jobs)):
        console.say(line)
    started = time.monotonic()
    results = _measured(jobs, bench, console)
    wall = time.monotonic() - started
    if not bench.timed:
        console.say(
            f"{bench.name} has no time: no rate, no runtime, no bandwidth and no latency;"
            " data are checked where verify is set"
        )
    for result in results:
        console.say(f"\n{job_text(result)}")
    if bench.timed:
        console.say(f"\n{status_text(results)}")
    files = _figures(results, output) if bench.timed and output is not None else []
    for file in files:
        console.say(str(file))
    files += bench.trace.write()
    console.document(
        {
            **bench.document,
            "jobs": [job_document(result) for result in results],
            "wall_seconds": wall,
            "files": [str(file) for file in files],
        }
    )
    bench.trace.report(console)
    return _verdict(results)


def _sweep(
    sweep: Sweep, points: Sequence[Sequence[Job]], bench: _Bench, output: Path | None, console: Console
) -> int:
    rows: list[SweepRow] = []
    documents, every = [], []
    for value, jobs in zip(sweep.values, points, strict=True):
        console.step(f"{sweep.option}={value}")
        results = _measured(jobs, bench, console)
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
            **bench.document,
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
    examples="""\
  flashtrain io examples/io/mixed.fio --link model              the jobs of a file
  flashtrain io --rw=append --bs=128k --size=32m --iodepth=16   appends, through the RTL
  flashtrain io --rw=append --bs=128k --size=8m --link model --trace io.json     a trace for Perfetto
  flashtrain io --rw=randwrite --bs=4k --size=64m --runtime=20ms --drive ssd    the same on conventional SSDs
  flashtrain io --rw=randread --size=8m --runtime=2ms --time_based --sweep iodepth=1..64 --output build/io

Exit code 1 if verify=crc32c finds a wrong bit.
""",
    add_arguments=add_arguments,
    run=run,
)
