"""The row `model_error`: the times of a Link beside those of the RTL, at many points."""

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from flashtrain.perf.measurement import BenchmarkError, Cost, Result
from flashtrain.perf.model_error.comparison import Compared, compare, measurement
from flashtrain.perf.model_error.observe import observe
from flashtrain.perf.model_error.point import Observation, Run
from flashtrain.perf.model_error.runs import RUNS, configurations
from flashtrain.spec import ConfigError, FlashtrainError
from flashtrain.stress.workers import worker_pool
from flashtrain.writing import write_text

from .bench_settings import Settings
from .console import Console, table
from .device import memory_bytes
from .links import LINKS
from .rtl_results import RtlResults

NAME = "model_error"
REFERENCE = "rtl"
ALL = "all"
"""The row's configuration when all of them are compared."""
QUICK = "small"
"""The configuration of a quick run."""

Pair = tuple[Observation, Observation]
"""A run on the RTL, and on the other Link."""


def check(configuration: str, settings: Settings) -> None:
    """Find mistakes of the user before anything is measured.

    :class:`ConfigError` if there are no such points; :class:`InputError` for another file.
    """
    runs_for(configuration, settings.points, settings.quick)
    RtlResults(settings.rtl_results)


def model_error(configuration: str, settings: Settings, console: Console) -> Result:
    """Compare the points of a configuration, or of all, and write a figure and a document of them.

    :class:`BenchmarkError` at the end if a run could not be carried out.
    """
    runs = runs_for(configuration, settings.points, settings.quick)
    started, file = time.process_time(), RtlResults(settings.rtl_results)
    by_run: dict[Run, Pair] = {}
    failures: list[str] = []
    for run, pair in _pairs(runs, file, settings):
        if isinstance(pair, str):
            console.step(pair)
            failures.append(pair)
            continue
        file.put(run, pair[0])
        by_run[run] = pair
        for each in compare(run, *pair):
            console.step(f"{each.point.name}: error {each.error:+.3%} ({len(by_run)} of {len(runs)} runs)")
    points = [each for run in runs if run in by_run for each in compare(run, *by_run[run])]
    points = [each for each in points if _is_chosen(each.point.name, settings.points)]
    names = (REFERENCE, settings.against)
    console.say(points_table(points, names))
    _write(points, settings.folder, configuration if settings.points is None else "points", names)
    if failures:
        raise BenchmarkError("; ".join(failures))
    pairs = by_run.values()
    seconds = time.process_time() - started + sum(one.seconds for pair in pairs for one in pair)
    cycles = sum(other.cycles for _reference, other in pairs)
    measured = measurement(points, cycles, names)
    return Result.of(NAME, configuration, settings.against, Cost(seconds, 0), measured)


def runs_for(configuration: str, pattern: str | None, quick: bool) -> list[Run]:
    """The runs with points to compare; :class:`ConfigError` if there are none.

    quick: those of `QUICK` alone in the place of all.
    """
    if quick and configuration == ALL:
        configuration = QUICK
    known = dict.fromkeys(run.configuration for run in RUNS)
    if configuration != ALL and configuration not in known:
        raise ConfigError(f"{NAME} has no points on {configuration!r}; it has them on {', '.join(known)}")
    on_it = [run for run in RUNS if configuration in (ALL, run.configuration)]
    chosen = [run for run in on_it if any(_is_chosen(point.name, pattern) for point in run.points)]
    if not chosen:
        raise ConfigError(f"no point matches {pattern!r}; the first one is {on_it[0].points[0].name!r}")
    return chosen


def points_table(points: Sequence[Compared], names: tuple[str, str]) -> str:
    rows = [
        (
            each.point.name, f"{each.reference:,.5g}", f"{each.value:,.5g}", each.point.quantity.unit,
            f"{each.error:+.3%}", f"{each.point.quantity.tolerance:.0%}", each.point.run.role.value,
            "yes" if each.met else "no",
        )
        for each in points
    ]  # fmt: skip
    return table(("point", *names, "unit", "error", "tolerance", "role", "met"), rows)


def _is_chosen(name: str, pattern: str | None) -> bool:
    return pattern is None or fnmatchcase(name, pattern)


def _pairs(runs: Sequence[Run], file: RtlResults, settings: Settings) -> Iterator[tuple[Run, Pair | str]]:
    """Each run as it is done, several at a time; a text is why it could not be carried out."""
    pair = partial(_pair, against=settings.against)
    if settings.jobs < 2:
        for run in runs:
            yield run, pair(run, file.get(run))
        return
    with worker_pool(min(settings.jobs, len(runs))) as pool:
        futures = {pool.submit(pair, run, file.get(run)): run for run in runs}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _pair(run: Run, reference: Observation | None, against: str) -> Pair | str:
    """`reference`: an earlier observation on the RTL."""
    link = REFERENCE
    try:
        reference = reference or _observe(run, link)
        link = against
        return reference, _observe(run, link)
    except FlashtrainError as error:
        return f"{run.name} on {link}: {error}"


def _observe(run: Run, link: str) -> Observation:
    config = configurations()[run.configuration]
    return observe(run, config, LINKS[link].factory, memory_bytes(config))


def _write(points: Sequence[Compared], folder: Path, name: str, names: tuple[str, str]) -> None:
    # Late: the library for figures takes a moment to import.
    from flashtrain.perf.model_error.scatter import draw_scatter

    path = folder / f"{NAME}-{name}.json"
    write_text(path, json.dumps([each.document() for each in points], indent=2) + "\n")
    draw_scatter(points, path.with_suffix(".png"), names)
