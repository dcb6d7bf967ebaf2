"""Tables of docs/configuration.md: all keys of a configuration, and the NAND parts."""

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING
from typing import Any

from .chips import Chips
from .config import FmsConfig
from .geometry import Geometry
from .limits import limits_of
from .parts import PARTS
from .presets import PRESETS
from .sources import PRESET_SOURCES, SourcedValue, part_values, sourced_values
from .timing import Duration, NandTiming


def page_with_tables(page: str) -> str:
    """`page`, with what stands between the marks of each table made anew."""
    for name, table in _TABLES.items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->\n"
        text = begin + "\n".join(table()) + "\n" + end
        page = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _, text=text: text, page, flags=re.S)
    return page


def _keys(kind: Any) -> Callable[[], Iterable[str]]:
    def rows() -> Iterable[str]:
        yield "| key | meaning | unit | range | default |"
        yield "|---|---|---|---|---|"
        for field, limits in limits_of(kind):
            yield f"| `{field.name}` | {limits.meaning} | {limits.unit} | {limits} | {_default(field)} |"

    return rows


def _default(field: Any) -> str:
    default = field.default
    if default is MISSING:
        return "none"
    if isinstance(default, Duration):
        return f"{default.ns:,}"
    if isinstance(default, bool):
        return "true" if default else "false"
    return f"{default:,}"


def _parts() -> Iterable[str]:
    """A table for each part: value and source of each field, the timing of the bus in one row."""
    for part in PARTS.values():
        yield f"\n### `{part.name}`: {part.summary}\n"
        yield from _sources(part_values(part))
    yield ""


def _presets() -> Iterable[str]:
    """A table for each preset with sources of its own, without those of its die."""
    for name, sources in PRESET_SOURCES.items():
        yield f"\n### `{name}`, beside its die\n"
        yield from _sources(value for value in sourced_values(PRESETS[name]) if value.key in sources)
    yield ""


def _sources(values: Iterable[SourcedValue]) -> Iterable[str]:
    yield "| key | value | source |"
    yield "|---|---|---|"
    for key, value, source in values:
        yield f"| {', '.join(f'`{name}`' for name in key.split(', '))} | {value} | {source} |"


_TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "keys": _keys(FmsConfig),
    "geometry": _keys(Geometry),
    "timing": _keys(NandTiming),
    "chips": _keys(Chips),
    "parts": _parts,
    "presets": _presets,
}
