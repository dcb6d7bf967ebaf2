"""`flashtrain bench`: measures the RTL against its bounds."""

import argparse
import json
import time
from pathlib import Path

from flashtrain.host import open_device
from flashtrain.perf.measurement import BenchmarkError, Result
from flashtrain.spec import FlashtrainError, FmsConfig, preset

from .benchmarks import BENCHMARKS
from .command import Command, add_json, add_preset
from .console import Console, table
from .device import memory_bytes
from .links import LINKS, announced

LINK = "rtl"
DEFAULT_FILE = "build/bench/results.json"


class UnknownBenchmark(FlashtrainError):
    """There is no benchmark of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no benchmark {name!r}; expected some of {', '.join(BENCHMARKS)}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(BENCHMARKS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{names} (default: all)")
    add_preset(parser)
    parser.add_argument("--quick", action="store_true", help="measure for a shorter time")
    parser.add_argument(
        "--output", type=Path, default=Path(DEFAULT_FILE), metavar="FILE", help=f"default: {DEFAULT_FILE}"
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    config = preset(options.preset)
    names = options.names or list(BENCHMARKS)
    for name in names:
        if name not in BENCHMARKS:
            raise UnknownBenchmark(name)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    results, failed = [], []
    for name in names:
        console.step(f"{name} on {config.name}")
        try:
            results.append(measure(name, config, options.quick, console))
        except BenchmarkError as error:
            console.error(f"flashtrain bench: {name}: {error}")
            failed.append(name)
    options.output.write_text(json.dumps([r.document() for r in results], indent=2) + "\n")
    console.say(results_table(results))
    console.say(f"\n{options.output}")
    console.document([result.document() for result in results])
    for result in results:
        if not result.within_bound:
            console.error(
                f"flashtrain bench: {result.name}: {result.value} is above its bound {result.bound}"
            )
            failed.append(result.name)
    return 1 if failed else 0


def measure(name: str, config: FmsConfig, quick: bool, console: Console) -> Result:
    """Carry out one benchmark on a device of its own."""
    benchmark = BENCHMARKS[name]
    factory = announced(LINKS[LINK], console.step)
    with open_device(
        config,
        factory,
        node=benchmark.node,
        memory_bytes=memory_bytes(config),
        queue_entries=benchmark.queue_entries,
    ) as device:
        started = time.process_time()
        measured = benchmark.run(device, quick)
        return Result.of(name, config.name, LINK, time.process_time() - started, measured)


def results_table(results: list[Result]) -> str:
    """The results for readers, and their notes below."""
    rows = [
        (
            r.name,
            f"{r.value:,.3f}" if r.value < 1000 else f"{r.value:,.0f}",
            r.unit,
            "-" if r.bound is None else f"{r.bound:,.3f}",
            "-" if r.share is None else f"{r.share:.1%}",
            f"{r.clocks:,}",
            f"{r.seconds:.1f} s",
        )
        for r in results
    ]
    columns = ("benchmark", "value", "unit", "bound", "share", "clocks", "process time")
    notes = "\n".join(f"{r.name}: {r.note}" for r in results)
    return f"{table(columns, rows)}\n\n{notes}"


COMMAND = Command(
    name="bench",
    summary="measure the RTL against its bounds, in clocks",
    examples="""\
  flashtrain bench                            all, preset small; writes build/bench/results.json
  flashtrain bench append_erased --quick      one, for a shorter time
  flashtrain bench --json

Exit code 1 if a benchmark fails, or if a value is above its bound: that is a mistake, not a success.
""",
    add_arguments=add_arguments,
    run=run,
)
