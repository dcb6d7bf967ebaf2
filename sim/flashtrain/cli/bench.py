"""`flashtrain bench`: measures the RTL against its bounds."""

import argparse
import os
from pathlib import Path

from flashtrain.perf.measurement import Result
from flashtrain.perf.one_channel import OCOWFC
from flashtrain.spec import ConfigError, FmsConfig, load_config

from .bench_results import ResultsFile
from .bench_rows import RowFailed, results_of
from .bench_settings import RTL_RESULTS, Settings
from .bench_table import CONFIGURATIONS, QUICK_TABLE, TABLE, Row, rows_for
from .benchmarks import ALL_BENCHMARKS, BENCHMARKS, SYSTEM_BENCHMARKS, Benchmark
from .command import Command, add_config_file, add_json, at_least_one
from .console import Console, table
from .links import LINKS
from .model_error import NAME, check
from .outputs import output_file
from .trace_options import add_trace, trace_request

DEFAULT_FILE = "build/bench/results.json"
QUICK_FILE = "build/bench/quick/results.json"
"""Quick results are of shorter runs: they do not replace the others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(ALL_BENCHMARKS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "--preset", choices=list(CONFIGURATIONS), metavar="NAME",
        help=f"configuration by name: a preset, or {OCOWFC.name} (default: those of the table)",
    )  # fmt: skip
    add_config_file(one)
    parser.add_argument(
        "--jobs", type=at_least_one, default=os.cpu_count() or 1, metavar="N",
        help="rows at a time (default: one per processor); rows measured in seconds run alone",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true",
        help="shorter runs; without names and a configuration on smaller ones, too",
    )  # fmt: skip
    parser.add_argument(
        "--points", metavar="PATTERN",
        help=f"of {NAME}: points by name, such as 'small/read_*'; not merged into the results",
    )  # fmt: skip
    parser.add_argument(
        "--against", choices=[kind.name for kind in LINKS.values() if kind.timed], default="model",
        metavar="LINK", help=f"of {NAME}: the Link compared with the RTL (default: model)",
    )  # fmt: skip
    parser.add_argument(
        "--rtl-results", type=output_file, default=RTL_RESULTS, metavar="FILE",
        help=f"of {NAME}: the RTL's values, used again (default: {RTL_RESULTS})",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a benchmark misses its goal")
    parser.add_argument(
        "--output", type=output_file, metavar="FILE",
        help="results, merged into the file's by name, configuration and link; figures are beside it"
        f" (default: {DEFAULT_FILE}, or {QUICK_FILE} with --quick)",
    )  # fmt: skip
    add_trace(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the library for figures takes a moment to import.
    from flashtrain.perf.use_figure import draw_use

    configurations, name = _configurations(options)
    rows = rows_for(options.names, name, options.quick)
    if not rows:
        raise ConfigError(f"no benchmark of the table is on {name!r}: name some, as in --help")
    if options.points is not None and options.names != [NAME]:
        raise ConfigError(f"--points is of {NAME} alone: name it, and nothing else")
    usual, every = (QUICK_FILE, QUICK_TABLE) if options.quick else (DEFAULT_FILE, TABLE)
    path = options.output or Path(usual)
    folder = path.parent
    settings = Settings(
        options.quick, options.jobs, folder, options.points, options.against, options.rtl_results,
        trace_request(options, LINKS["rtl"]),
    )  # fmt: skip
    if (options.trace or options.waves) and not (len(rows) == 1 and _has_one_device(rows[0])):
        raise ConfigError("--trace and --waves are of one benchmark on one device: name it, with --preset")
    for row in rows:
        if row.benchmark == NAME:
            check(row.configuration, settings)
    file = ResultsFile(path, every)
    by_number: dict[int, Result] = {}
    failed = []
    for number, result in results_of(rows, configurations, settings, console):
        if isinstance(result, RowFailed):
            console.error(f"flashtrain bench: {result}")
            failed.append(result.row)
            continue
        by_number[number] = result
        console.step(
            f"{result.name} on {result.configuration}: {result.value:,.3f} {result.unit}"
            f" in {result.seconds:.1f} s: {result.note}"
        )
        if settings.points is None:
            file.add(result)
        if result.use is not None:
            draw_use(
                {result.name: result.use},
                folder / f"{result.name}-{result.configuration}.png",
                _title(result),
            )
    results = [by_number[number] for number in sorted(by_number)]
    uses = {f"{r.name}, {r.configuration}": r.use for r in results if r.use is not None}
    if uses:
        draw_use(uses, folder / "time.png", "where the time of buses and arrays went")
    console.say(results_table(results))
    console.say(f"\n{file.path}")
    console.document([result.document() for result in results])
    for result in results:
        if not result.within_bound:
            console.error(
                f"flashtrain bench: {result.name} on {result.configuration}: {result.value} is above its"
                f" bound {result.bound}"
            )
            failed.append(Row(result.name, result.configuration))
    missed = [Row(result.name, result.configuration) for result in results if result.met is False]
    if missed:
        names = ", ".join(f"{row.benchmark} on {row.configuration}" for row in missed)
        console.error(f"flashtrain bench: goals missed: {names}")
    system = [row for row in missed if row.benchmark in SYSTEM_BENCHMARKS]
    must = missed if options.strict else [row for row in system if SYSTEM_BENCHMARKS[row.benchmark].must_meet]
    return 1 if failed or must else 0


def _has_one_device(row: Row) -> bool:
    return isinstance(BENCHMARKS.get(row.benchmark), Benchmark)


def _configurations(options: argparse.Namespace) -> tuple[dict[str, FmsConfig], str | None]:
    """All configurations by name, and the name of the one that was asked for."""
    if options.config is None:
        return CONFIGURATIONS, options.preset
    config = load_config(options.config)
    if not options.names:
        raise ConfigError(f"{options.config}: --config takes names of benchmarks: the table has none on it")
    return {**CONFIGURATIONS, config.name: config}, config.name


def results_table(results: list[Result]) -> str:
    """The results for readers, and their notes below."""
    rows = [
        (
            r.name,
            r.configuration,
            _number(r.value),
            r.unit,
            "-" if r.bound is None else _number(r.bound),
            "-" if r.share is None else f"{r.share:.2%}",
            "-" if r.met is None else "yes" if r.met else "no",
            f"{r.cycles:,}",
            f"{r.cycles / r.seconds:,.0f}" if r.cycles else "-",
            f"{r.bytes / r.seconds / 1e6:,.1f}" if r.bytes else "-",
        )
        for r in results
    ]
    columns = (
        "benchmark", "configuration", "value", "unit", "bound", "share", "met", "cycles", "cycles/s",
        "MB/s of CPU",
    )  # fmt: skip
    notes = "\n".join(f"{r.name}, {r.configuration}: {_asked(r)}{r.note}" for r in results)
    return f"{table(columns, rows, left=2)}\n\n{notes}"


def _number(value: float) -> str:
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def _asked(result: Result) -> str:
    return f"to reach: {result.asked}; " if result.asked else ""


def _title(result: Result) -> str:
    stalls = result.use.stalls if result.use else {}
    waits = [f"{share:.1%} {text}" for text, share in stalls.items() if share >= 0.001]
    return "\n".join(
        [f"{result.name} on {result.configuration}: {_number(result.value)} {result.unit}", *waits]
    )


COMMAND = Command(
    examples="""\
  flashtrain bench                                   the table; writes build/bench/results.json
  flashtrain bench --quick                           the same on small and tiny, in a few minutes
  flashtrain bench command_interval --preset tiny    one benchmark, on a configuration by name
  flashtrain bench model_error --points 'small/*'    the performance model against the RTL, point by point

A figure beside the results shows for each row where the time of buses and arrays went.
Exit code 1 if a benchmark fails, a value is above its bound, or a point of model_error out of its tolerance.
""",
    add_arguments=add_arguments,
    run=run,
)
