"""A device, its zones and its streams as text."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from flashtrain.inspection import Inspection
from flashtrain.inspection.journal import Journal
from flashtrain.inspection.streams import StreamUse
from flashtrain.inspection.zones import Zone
from flashtrain.spec import ZoneState

from .console import byte_count, table
from .device_health import verdict
from .device_values import duration, note_text, percent, wear_text


def overview_text(found: Inspection) -> str:
    facts, content = found.image, found.content
    g = facts.geometry
    code = f"{facts.code_strength} bits in each KiB" if facts.code_strength else "none"
    shape = (
        f"{g['channels']} channels x {g['dies']} dies x {g['planes']} planes x {g['blocks']} blocks"
        f" x {g['pages']} pages of {g['page_bytes']} bytes"
    )
    rows = (
        ("image", f"{facts.path}, format version {facts.version}, serial {facts.serial}"),
        ("file", f"{byte_count(facts.allocated_bytes)} of {byte_count(facts.file_bytes)} allocated"),
        ("device", f"{facts.configuration}: {shape}"),
        ("capacity", f"{byte_count(facts.capacity_bytes)} in {g['blocks'] - g['spare_blocks']} zones"),
        ("correction", f"{code}; {'a' if facts.randomizer else 'no'} randomizer"),
        ("node", _node(facts.node)),
        ("clock", duration(facts.clock_seconds)),
        ("zones", "not known" if content is None else _states(content.zones)),
        ("shutdown", "not known" if content is None else _shutdown(content.journal)),
        ("health", verdict(found.health)),
    )
    return table(("", ""), [*rows], left=2).strip()


def _node(node: dict[str, Any] | None) -> str:
    return "not known" if node is None else f"{node['name']}, {len(node['streams'])} streams"


def _states(zones: Sequence[Zone]) -> str:
    counts = Counter(zone.state for zone in zones)
    return ", ".join(f"{counts[state.name]} {state.name}" for state in ZoneState if counts[state.name])


def zones_text(zones: Sequence[Zone]) -> str:
    """A line for each zone; consecutive empty zones of a stream share one."""
    columns = (
        "stream", "zone", "state", "start", "written", "capacity", "wptr", "physical", "erases", "used",
        "age",
    )  # fmt: skip
    rows = []
    for (_, state, alone), run in groupby(zones, lambda zone: (zone.stream, zone.state, _alone(zone))):
        own = list(run)
        first, last = own[0], own[-1]
        number = str(first.zone) if first is last else f"{first.zone}..{last.zone}"
        pointer = "-" if first.write_pointer is None or alone is None else f"{first.write_pointer:#x}"
        rows.append(
            (
                first.stream, number, state, f"{first.start:#x}",
                f"{first.written_blocks:,}", f"{first.capacity_blocks:,}", pointer,
                "-" if first.physical is None else str(first.physical), wear_text(first.erases),
                percent(first.endurance_used), duration(first.age_seconds),
            )
        )  # fmt: skip
    return table(columns, rows, left=3) + (
        "\nblocks of zones, addresses in blocks of the stream; erases: min / mean / max of the zone's blocks;"
        "\nused: part of the endurance of the stream's retention class"
    )


def streams_text(streams: Sequence[StreamUse]) -> str:
    columns = ("stream", "nsid", "persistency", "retention", "host", "core", "zones", "in use", "written")
    rows = [
        (
            one.name, str(one.nsid), one.persistency, one.retention, one.host, one.core, str(one.zones),
            str(one.zones - one.states.get(ZoneState.EMPTY.name, 0)), byte_count(one.written_bytes),
        )
        for one in streams
    ]  # fmt: skip
    more = ("stream", "erases", "endurance", "used", "oldest", "limit", "generation", "updates", "note")
    wear = [
        (
            one.name, wear_text(one.erases), f"{one.endurance:,}", percent(one.endurance_used),
            duration(one.oldest_seconds), duration(one.limit_seconds),
            f"{one.generation}{' pinned' if one.pinned else ' committed' if one.committed else ''}",
            str(one.updates) if one.committed else "-", note_text(one.note_bytes, one.note),
        )
        for one in streams
    ]  # fmt: skip
    # The note is text: it stays at the left edge of the last column.
    width = max(len(row[-1]) for row in [more, *wear])
    wear = [(*row[:-1], f"{row[-1]:<{width}}") for row in wear]
    return f"{table(columns, rows, left=6)}\n\n{table((*more[:-1], f'{more[-1]:<{width}}'), wear)}"


def _alone(zone: Zone) -> int | None:
    """None for zones that may share a line."""
    return None if zone.state == ZoneState.EMPTY.name and zone.physical is None else zone.zone


def _shutdown(journal: Journal) -> str:
    record = journal.record
    if journal.clean:
        return f"clean, journal record {record.number if record else '-'}"
    return f"not clean, journal record {record.number}" if record else "not clean, no journal record"
