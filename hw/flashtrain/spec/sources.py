"""Sources of the values of a configuration: of its die (`spec.parts`), and of what a preset adds to it.

A value that no public source gives is an assumption, with its reason beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import NamedTuple

from .config import FmsConfig
from .parts import PARTS, NandPart
from .timing import SCA_TIMES, Duration

_G9 = {
    "geometry.dies": "assumption: 8; their arrays then keep up with a bus of appends and three times as"
    " many reads",
    "write_sets": "assumption: 2 page sets for each die, as in behemoth",
    "read_pages": "assumption: as in behemoth",
    "read_queue": "assumption: as in behemoth",
    "commands": "assumption: 256, more than large reads need",
    "max_blocks": "assumption: 64 MiB in one command, as in behemoth",
    "update_divider": "assumption: 300 MHz, as in optimstore",
    "update_interval": "assumption: as in optimstore; a tile takes less than tprog with every optimizer",
}

PRESET_SOURCES: Mapping[str, Mapping[str, str]] = {
    "optimstore": {
        "geometry.channels": "assumption: 8, as many SSD controllers have",
        "geometry.dies": "assumption: 4; their programs move 2.2 times what their channel carries, so state"
        " gains from staying on a die",
        "write_sets": "assumption: 2 page sets for each die, as in behemoth",
        "read_pages": "assumption: as in behemoth",
        "read_queue": "assumption: as in behemoth",
        "max_blocks": "assumption: 64 MiB in one command, as in behemoth",
        "update_divider": "OptimStore (HPCA'23): a quarter of the interface rate, 300 MHz",
        "update_interval": "assumption: a tile takes less than tprog with Adam (36.4 µs), momentum (54.6 µs)"
        " and Adam's state in 16 bits (72.8 µs), and with SGD (109.2 µs) less than four tiles of gradients"
        " take on their channel (218.5 µs); with 3 state in 16 bits takes longer",
    },
    "g9_slc": {"geometry.channels": "Behemoth (FAST'21): 64, as in behemoth", **_G9},
    "g9_drive": {"geometry.channels": "assumption: 16, as controllers of drives have", **_G9},
}
"""Of what a preset adds to its die: by name and key."""


class SourcedValue(NamedTuple):
    """A value as text with its unit, and where it comes from."""

    key: str
    value: str
    source: str


def part_of(config: FmsConfig) -> NandPart | None:
    """The part that has the timing of `config` and the planes and pages of its dies; None if there is none.

    The number of blocks is no part of this, because spare blocks change it.
    """
    shape = ("planes", "pages", "page_bytes", "spare_bytes")
    for part in PARTS.values():
        same = all(getattr(part, name) == getattr(config.geometry, name) for name in shape)
        if same and part.timing == config.timing:
            return part
    return None


def sourced_values(config: FmsConfig) -> Iterator[SourcedValue]:
    """The values of `config` that have a source: of its die, if that is a part, and of its preset."""
    part = part_of(config)
    if part is not None:
        yield from part_values(part)
    for key, source in PRESET_SOURCES.get(config.name, {}).items():
        holder = config.geometry if key.startswith("geometry.") else config
        yield SourcedValue(key, _text(getattr(holder, key.removeprefix("geometry."))), source)


def part_values(part: NandPart) -> Iterator[SourcedValue]:
    """The values of a part; the timing of the bus in one, under the names of its fields."""
    values = {"geometry": part.geometry(), "timing": vars(part.timing)}
    for table, named in values.items():
        for key, value in named.items():
            if key in part.sources:
                yield SourcedValue(f"{table}.{key}", _text(value), part.sources[key])
    known = {*part.sources, *SCA_TIMES}
    bus = [each.name for each in fields(part.timing) if each.name not in known]
    yield SourcedValue(", ".join(bus), "defaults", part.sources["bus"])
    if part.sca:
        yield SourcedValue(", ".join(SCA_TIMES), "defaults", part.sources["sca_times"])
        yield SourcedValue("chips.sca", "true or false", part.sources["sca"])


def _text(value: object) -> str:
    return f"{value.ns:,} ns" if isinstance(value, Duration) else f"{value:,}"
