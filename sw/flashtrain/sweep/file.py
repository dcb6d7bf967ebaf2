"""Sweep files: TOML to points, all of them checked (docs/sweeps.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtrain.reading import InputError, read_toml
from flashtrain.spec import ConfigError, FlashtrainError

from .axes import MOST_POINTS, Axis, Setting, product_axes, settings, zip_axis
from .bases import Base, swept_keys
from .limits import Options, check_keys, options_from
from .point import Point, Workload

PRESETS, CONFIGS, WORKLOADS, LINKS = "presets", "configs", "workloads", "links"
PRODUCT, ZIP, OPTIONS, QUICK = "product", "zip", "options", "quick"
KEYS = (PRESETS, CONFIGS, WORKLOADS, LINKS, PRODUCT, ZIP, OPTIONS, QUICK)


@dataclass(frozen=True)
class Job:
    """A workload of a sweep file with one set of options, and the Links that it runs on."""

    name: str
    workload: Workload
    options: Options
    links: tuple[str, ...]


def load_sweep(path: Path, workloads: Mapping[str, Workload], links: tuple[str, ...]) -> list[Point]:
    """The points of a sweep file, in the order of its lists.

    `workloads` and `links` are the ones that there are. :class:`InputError` names the file, the key, and what
    was expected.
    """
    content = read_toml(path)
    try:
        return list(_points(content, path.parent, workloads, links))
    except InputError:
        raise
    except FlashtrainError as error:
        raise InputError(path, str(error)) from error


def _points(
    content: dict[str, Any], folder: Path, workloads: Mapping[str, Workload], known_links: tuple[str, ...]
) -> Iterator[Point]:
    check_keys("", content, KEYS)
    quick = content.get(QUICK, False)
    if not isinstance(quick, bool):
        raise ConfigError(f"{QUICK} is {quick!r}; expected true or false")
    bases = _bases(content, folder)
    links = _names(content, LINKS, known_links)
    jobs = list(_jobs(content, workloads, links))
    chosen = list(settings(_axes(content)))
    seen: dict[str, Point] = {}
    for base in bases:
        for setting in chosen:
            for point in _points_of(base, setting, jobs, quick):
                if point.key in seen:
                    raise ConfigError(f"{point} is there twice; expected different values in all lists")
                if len(seen) == MOST_POINTS:
                    raise ConfigError(f"there are too many points; expected at most {MOST_POINTS:,}")
                seen[point.key] = point
                yield point


def _points_of(base: Base, setting: Setting, jobs: list[Job], quick: bool) -> Iterator[Point]:
    values = ", ".join(f"{key} = {value}" for key, value in setting.items())
    where = f"{base.label} with {values}" if values else base.label
    try:
        config = base.with_fields(setting)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    for job in jobs:
        for link in job.links:
            point = Point(base.label, config, job.name, link, job.options, quick)
            try:
                job.workload.check(point)
            except FlashtrainError as error:
                raise ConfigError(f"{where}: {job.name}: {error}") from error
            yield point


def _bases(content: Mapping[str, Any], folder: Path) -> list[Base]:
    bases = [Base.of_preset(name) for name in _texts(content, PRESETS)]
    bases += [Base.of_file(label, folder) for label in _texts(content, CONFIGS)]
    if not bases:
        raise ConfigError(f"{PRESETS} is missing; expected names of presets, or {CONFIGS} with files")
    return bases


def _axes(content: Mapping[str, Any]) -> list[Axis]:
    groups = content.get(ZIP, [])
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise ConfigError(f"{ZIP} is {groups!r}; expected tables, [[{ZIP}]]")
    own = _table(content, PRODUCT)
    axes = product_axes(f"{PRODUCT}.", swept_keys(f"{PRODUCT}.", own))
    for number, group in enumerate(groups):
        prefix = f"{ZIP}[{number}]."
        axes.append(zip_axis(prefix, swept_keys(prefix, group)))
    return axes


def _jobs(
    content: Mapping[str, Any], workloads: Mapping[str, Workload], links: tuple[str, ...]
) -> Iterator[Job]:
    names = _names(content, WORKLOADS, tuple(workloads))
    if not names:
        raise ConfigError(f"{WORKLOADS} is missing; expected some of {', '.join(workloads)}")
    options = _table(content, OPTIONS)
    check_keys(f"{OPTIONS}.", options, names)
    for name in names:
        workload = workloads[name]
        own = _table(options, name, f"{OPTIONS}.")
        prefix = f"{OPTIONS}.{name}."
        for setting in settings(product_axes(prefix, own)):
            yield Job(
                name, workload, options_from(workload.options, setting, prefix), _links(name, workload, links)
            )


def _links(name: str, workload: Workload, links: tuple[str, ...]) -> tuple[str, ...]:
    """The Links of the file; of a workload without a device one without a name."""
    if not workload.links:
        return ("",)
    for link in links:
        if link not in workload.links:
            raise ConfigError(f"{LINKS} has {link!r}; expected {' or '.join(workload.links)} for {name}")
    if not links:
        raise ConfigError(f"{LINKS} is missing; expected {' or '.join(workload.links)} for {name}")
    return links


def _names(content: Mapping[str, Any], key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    names = _texts(content, key)
    for name in names:
        if name not in known:
            raise ConfigError(f"{key} has {name!r}; expected some of {', '.join(known)}")
    return tuple(names)


def _texts(content: Mapping[str, Any], key: str) -> list[str]:
    value = content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ConfigError(f"{key} is {value!r}; expected a list of names")
    return value


def _table(content: Mapping[str, Any], key: str, prefix: str = "") -> dict[str, Any]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{prefix}{key} is {value!r}; expected a table, [{prefix}{key}]")
    return value
