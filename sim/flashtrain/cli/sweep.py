"""`flashtrain sweep`: a job for each combination of values in a sweep file."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from flashtrain.stress.workers import worker_pool
from flashtrain.sweep.dask_pool import DaskPool
from flashtrain.sweep.errors import SweepError
from flashtrain.sweep.file import load_sweep
from flashtrain.sweep.journal import Journal
from flashtrain.sweep.point import Outcome, Point
from flashtrain.sweep.pools import LocalPool, Pool, Run, SerialPool
from flashtrain.sweep.run import Tally, run_sweep
from flashtrain.sweep.source import source_digest
from flashtrain.sweep.table import check_suffix, row_of, write_table

from .command import Command, add_json, at_least_one
from .console import Console, table
from .links import LINKS
from .outputs import output_file
from .sweep_workloads import WORKLOADS, run_point, run_point_with

DEFAULT_FOLDER = Path("build/sweeps")
FAILED = 1
SHOWN = 20
"""Points that a dry run lists."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, nargs="?", help="sweep file (docs/sweeps.md)")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--jobs", type=at_least_one, default=os.cpu_count() or 1, metavar="N",
        help="processes on this machine (default: one for each processor)",
    )  # fmt: skip
    place.add_argument(
        "--scheduler", metavar="ADDRESS", help="run the jobs on a Dask cluster: tcp://HOST:PORT"
    )
    parser.add_argument(
        "--output", type=output_file, metavar="FILE",
        help="table of results, .csv or .parquet; its journal lies beside it"
        f" (default: {DEFAULT_FOLDER}/NAME.csv)",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="drop what an earlier sweep has measured")
    parser.add_argument("--dry-run", action="store_true", help="check the file, list its points, run nothing")
    parser.add_argument("--workloads", action="store_true", help="list the workloads and their options")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    if options.workloads:
        return _list_workloads(console)
    if options.file is None:
        raise SweepError("expected a sweep file, or --workloads")
    points = load_sweep(options.file, WORKLOADS, tuple(LINKS))
    output = options.output or DEFAULT_FOLDER / f"{options.file.stem}.csv"
    check_suffix(output)
    _check_load(options, points)
    if options.dry_run:
        return _list_points(points, console)
    with Journal(output.with_name(f"{output.name}.journal"), options.fresh) as journal:
        left = sum(point.key not in journal.outcomes for point in points)
        console.step(
            f"{options.file}: {len(points):,} points, {len(points) - left:,} complete, {left:,} to do"
        )
        with _pool(options, left) as pool:
            tally = run_sweep(points, journal, pool, _runner(options), lambda now: console.progress(str(now)))
        outcomes = {**journal.outcomes, **{outcome.key: outcome for outcome in tally.failed}}
    write_table([row_of(point, outcomes[point.key]) for point in points], output)
    _warn_of_other_code(console, [outcomes[point.key] for point in points])
    return _report(tally, points, output, console)


def _runner(options: argparse.Namespace) -> Run:
    """The function that carries out a point; `--cache-dir` holds on other machines, too."""
    return partial(run_point_with, options.cache_dir.absolute()) if "cache_dir" in options else run_point


def _check_load(options: argparse.Namespace, points: Sequence[Point]) -> None:
    """Raise `SweepError` if jobs run side by side whose values depend on the load."""
    if options.jobs == 1 and options.scheduler is None:
        return
    for point in points:
        if WORKLOADS[point.workload].alone:
            raise SweepError(f"{options.file}: {point.workload} measures real time; expected --jobs 1")


@contextmanager
def _pool(options: argparse.Namespace, jobs: int) -> Iterator[Pool]:
    """A pool of processes, as many as there are jobs at most."""
    count = min(options.jobs, jobs)
    if options.scheduler is not None and jobs:
        with DaskPool(options.scheduler) as pool:
            yield pool
    elif count < 2:
        yield SerialPool()
    else:
        with worker_pool(count) as executor:
            yield LocalPool(executor)


def _list_workloads(console: Console) -> int:
    rows = [(name, " ".join(workload.links) or "-", workload.summary) for name, workload in WORKLOADS.items()]
    console.say(table(("workload", "links", ""), rows, left=3))
    console.document({name: {"links": links, "summary": summary} for name, links, summary in rows})
    return 0


def _list_points(points: Sequence[Point], console: Console) -> int:
    for point in points[:SHOWN]:
        console.say(str(point))
    if len(points) > SHOWN:
        console.say(f"... and {len(points) - SHOWN:,} more")
    console.say(f"{len(points):,} points")
    console.document([{"key": point.key, "base": point.base, **point.columns} for point in points])
    return 0


def _warn_of_other_code(console: Console, outcomes: Sequence[Outcome]) -> None:
    others = sum(outcome.source != source_digest() for outcome in outcomes)
    if others:
        console.error(
            f"flashtrain sweep: {others:,} points were measured by other code (column source);"
            " --fresh measures them again"
        )


def _report(tally: Tally, points: Sequence[Point], output: Path, console: Console) -> int:
    names = {point.key: str(point) for point in points}
    for outcome in tally.failed:
        console.error(f"flashtrain sweep: {names[outcome.key]}: {outcome.error}")
    console.say(f"{output}: {tally}, {tally.done:,} of them now")
    console.document(
        {
            "file": str(output),
            "points": tally.total,
            "kept": tally.kept,
            "done": tally.done,
            "failed": {names[outcome.key]: outcome.error for outcome in tally.failed},
        }
    )
    return FAILED if tally.failed else 0


COMMAND = Command(
    examples="""\
  flashtrain sweep --workloads                            the workloads, and the links that they run on
  flashtrain sweep examples/dies_per_channel.toml         results in build/sweeps/dies_per_channel.csv
  flashtrain sweep mine.toml --dry-run                    check the file and list its points
  flashtrain sweep mine.toml --output mine.parquet --jobs 4
  flashtrain sweep mine.toml --scheduler tcp://host:8786  on a Dask cluster

The same command continues a sweep that was interrupted or killed: complete points are in the journal.
Exit code 1 if a point fails: its row has the error, and the next sweep tries it again.
""",
    add_arguments=add_arguments,
    run=run,
)
