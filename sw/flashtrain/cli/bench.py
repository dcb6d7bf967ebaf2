"""`flashtrain bench`: measures the RTL against its bounds."""

import argparse
import json
import os
from pathlib import Path

from flashtrain.perf.measurement import Result

from .bench_rows import RowFailed, results_of
from .bench_table import CONFIGURATIONS, Row, rows_for
from .benchmarks import BENCHMARKS
from .command import Command, add_json, at_least_one
from .console import Console, table

DEFAULT_FILE = "build/bench/results.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(BENCHMARKS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{names} (default: the table)")
    parser.add_argument(
        "--preset", choices=list(CONFIGURATIONS), help="configuration (default: that of the table)"
    )
    parser.add_argument(
        "--jobs", type=at_least_one, default=os.cpu_count() or 1, metavar="N",
        help="rows at a time (default: one for each processor); what is measured in seconds is done alone",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="smaller configurations, for a shorter time")
    parser.add_argument(
        "--output", type=Path, default=Path(DEFAULT_FILE), metavar="FILE",
        help=f"results; figures are written beside it (default: {DEFAULT_FILE})",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    # Late: the library for figures takes a moment to import.
    from flashtrain.perf.use_figure import draw_use

    rows = rows_for(options.names, options.preset, options.quick)
    folder = options.output.parent
    folder.mkdir(parents=True, exist_ok=True)
    by_number: dict[int, Result] = {}
    failed = []
    for number, result in results_of(rows, options.quick, options.jobs, console):
        if isinstance(result, RowFailed):
            console.error(f"flashtrain bench: {result}")
            failed.append(result.row)
            continue
        by_number[number] = result
        console.step(
            f"{result.name} on {result.preset}: {result.value:,.3f} {result.unit} in {result.seconds:.1f} s:"
            f" {result.note}"
        )
        # Now, and not at the end: the whole table takes a while.
        _write(options.output, by_number)
        if result.use is not None:
            draw_use({result.name: result.use}, folder / f"{result.name}-{result.preset}.png", _title(result))
    results = [by_number[number] for number in sorted(by_number)]
    uses = {f"{r.name}, {r.preset}": r.use for r in results if r.use is not None}
    if uses:
        draw_use(uses, folder / "time.png", "where the time of buses and arrays went")
    console.say(results_table(results))
    console.say(f"\n{options.output}")
    console.document([result.document() for result in results])
    for result in results:
        if not result.within_bound:
            console.error(
                f"flashtrain bench: {result.name} on {result.preset}: {result.value} is above its bound"
                f" {result.bound}"
            )
            failed.append(Row(result.name, result.preset))
    return 1 if failed else 0


def _write(file: Path, by_number: dict[int, Result]) -> None:
    """In the order of the table, in whatever order they came."""
    documents = [by_number[number].document() for number in sorted(by_number)]
    file.write_text(json.dumps(documents, indent=2) + "\n")


def results_table(results: list[Result]) -> str:
    """The results for readers, and their notes below."""
    rows = [
        (
            r.name,
            r.preset,
            _number(r.value),
            r.unit,
            "-" if r.bound is None else _number(r.bound),
            "-" if r.share is None else f"{r.share:.2%}",
            "-" if r.met is None else "yes" if r.met else "no",
            f"{r.clocks:,}",
            f"{r.clocks / r.seconds:,.0f}" if r.clocks else "-",
            f"{r.bytes / r.seconds / 1e6:,.1f}" if r.bytes else "-",
        )
        for r in results
    ]
    columns = (
        "benchmark", "preset", "value", "unit", "bound", "share", "met", "clocks", "clocks/s", "MB/s of CPU",
    )  # fmt: skip
    notes = "\n".join(f"{r.name}, {r.preset}: {_asked(r)}{r.note}" for r in results)
    return f"{table(columns, rows, left=2)}\n\n{notes}"


def _number(value: float) -> str:
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def _asked(result: Result) -> str:
    return f"to reach: {result.asked}; " if result.asked else ""


def _title(result: Result) -> str:
    stalls = result.use.stalls if result.use else {}
    waits = [f"{share:.1%} {text}" for text, share in stalls.items() if share >= 0.001]
    return "\n".join([f"{result.name} on {result.preset}: {_number(result.value)} {result.unit}", *waits])


COMMAND = Command(
    name="bench",
    summary="measure the RTL against its bounds, in clocks",
    examples="""\
  flashtrain bench                                   the table; writes build/bench/results.json
  flashtrain bench --quick                           the same on smaller configurations, in a few minutes
  flashtrain bench append_erased mixed_1_1 --preset small
  flashtrain bench --json

Beside the results there is a figure for each row: where the time of buses and arrays went.
Exit code 1 if a benchmark fails, or if a value is above its bound: that is a mistake, not a success.
""",
    add_arguments=add_arguments,
    run=run,
)
