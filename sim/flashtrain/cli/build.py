"""`flashtrain build`: compiles ahead of need, and shows or cleans the cache."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from flashtrain.native.user_cache import GIB, Entry, UserCache, user_cache
from flashtrain.spec import PRESETS, ConfigError, FmsConfig, load_config, preset

from .command import Command, above_zero, add_json
from .console import Console, byte_count, table

DEFAULT_PRESET = "small"
SECONDS_PER_DAY = 86_400
_LINKS = ("rtl", "model")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset", nargs="+", choices=list(PRESETS), default=[], metavar="NAME",
        help=f"configurations by name (default: {DEFAULT_PRESET})",
    )  # fmt: skip
    parser.add_argument(
        "--config", nargs="+", type=Path, default=[], metavar="FILE", help="configurations in TOML files"
    )
    parser.add_argument(
        "--link", choices=_LINKS, metavar="NAME",
        help="rtl: the simulators of the configurations alone; model: the performance model alone"
        " (default: both, and the models of SSDs and of offloading)",
    )  # fmt: skip
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--list", action="store_true", help="show the entries of the cache")
    actions.add_argument("--clean", action="store_true", help="remove all entries that no process uses")
    actions.add_argument(
        "--limit", type=above_zero, metavar="GIB",
        help="the size from which on the entries that were not used for the longest time are removed",
    )  # fmt: skip
    parser.add_argument(
        "--older", type=above_zero, metavar="DAYS", help="with --clean: what nobody has used for so long"
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    if options.older is not None and not options.clean:
        raise ConfigError("--older is for --clean")
    if options.link == "model" and (options.preset or options.config):
        raise ConfigError("--link model is the same for all configurations: expected no --preset or --config")
    cache = user_cache()
    if options.list:
        _list(cache, console)
    elif options.clean:
        _clean(cache, (options.older or 0) * SECONDS_PER_DAY, console)
    elif options.limit is not None:
        _limit(cache, round(options.limit * GIB), console)
    else:
        _build(options, cache, console)
    return 0


def _build(options: argparse.Namespace, cache: UserCache, console: Console) -> None:
    # Late: `--list` and `--clean` need none of them.
    from flashtrain.model.kernel import load_kernel as load_model
    from flashtrain.ssd.kernel import load_kernel as load_ssd
    from flashtrain.training.offload.event_model import load_kernel as load_offload

    configs = [*map(preset, options.preset), *map(load_config, options.config)]
    built = []
    if options.link != "rtl":
        built += [load_model()._name]
    if options.link is None:
        built += [load_ssd()._name, load_offload()._name]
    if options.link != "model":
        built += [str(_simulator(config)) for config in configs or [preset(DEFAULT_PRESET)]]
    for library in built:
        console.say(library)
    console.document({"cache": str(cache.folder), "libraries": built})


def _simulator(config: FmsConfig) -> Path:
    # Late: the hardware's language takes a moment to import.
    from flashtrain.sim.link.library import build_library

    return build_library(config)


def _list(cache: UserCache, console: Console) -> None:
    entries, now = cache.entries(), time.time()
    rows = [
        (entry.path, entry.record.what, byte_count(entry.record.bytes), f"{entry.record.seconds:.1f} s",
         _age(now - entry.record.built), _age(now - entry.used))
        for entry in entries
    ]  # fmt: skip
    if rows:
        console.say(table(("entry", "what it is", "size", "took", "built", "used"), rows, left=2))
    console.say(
        f"{cache.folder}: {len(entries):,} entries, {byte_count(_bytes(entries))}"
        f" of at most {byte_count(cache.limit)}"
    )
    console.document(
        {
            "cache": str(cache.folder),
            "bytes": _bytes(entries),
            "limit": cache.limit,
            "entries": [
                {"path": entry.path, "used": entry.used}
                | {name: value for name, value in asdict(entry.record).items() if name != "files"}
                for entry in entries
            ],
        }
    )


def _clean(cache: UserCache, unused_for: float, console: Console) -> None:
    removed, kept = cache.clean(unused_for)
    console.say(_removed(cache, removed) + (f"; {len(kept):,} in use are kept" if kept else ""))
    console.document({"removed": [entry.path for entry in removed], "in_use": [entry.path for entry in kept]})


def _limit(cache: UserCache, count: int, console: Console) -> None:
    cache.limit = count
    removed = cache.trim()
    console.say(f"{_removed(cache, removed)}; at most {byte_count(count)} from now on")
    console.document({"limit": count, "removed": [entry.path for entry in removed]})


def _removed(cache: UserCache, entries: list[Entry]) -> str:
    return f"{cache.folder}: {len(entries):,} entries removed, {byte_count(_bytes(entries))}"


def _bytes(entries: list[Entry]) -> int:
    return sum(entry.record.bytes for entry in entries)


def _age(seconds: float) -> str:
    """A time that has passed, in the unit that suits it."""
    for unit, size in (("days", SECONDS_PER_DAY), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"


COMMAND = Command(
    examples="""\
  flashtrain build                          the simulator of small, and all models in C++
  flashtrain build --preset tiny tiny_ecc --link rtl
  flashtrain build --list                   entries of the cache: what they are, their sizes and ages
  flashtrain build --clean --older 30       remove what nobody has used for 30 days
  flashtrain build --limit 8                let the cache have 8 GiB
  flashtrain build --cache-dir DIR          another cache; the other commands take the same option
""",
    add_arguments=add_arguments,
    run=run,
)
