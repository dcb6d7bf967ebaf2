"""The sections of `flashtrain device` as text."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from flashtrain.inspection import Inspection, Scrub
from flashtrain.inspection.health import Health
from flashtrain.inspection.streams import StreamUse
from flashtrain.inspection.wear import Wear
from flashtrain.inspection.zones import Zone
from flashtrain.spec import ZoneState

from .console import byte_count, table

_MOST_DIES = 16
"""Dies up to which the text has a line for each; the document has all planes."""
_MOST_BAD = 20


def overview_text(found: Inspection) -> str:
    facts, health = found.image, found.health
    g = facts.geometry
    states = ", ".join(
        f"{sum(zone.state == state.name for zone in found.zones)} {state.name}"
        for state in ZoneState
        if any(zone.state == state.name for zone in found.zones)
    )
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
        ("node", f"{facts.node['name']}, {len(found.streams)} streams"),
        ("clock", duration(facts.clock_seconds)),
        ("zones", states),
        ("shutdown", _shutdown(found)),
        ("health", _verdict(health)),
    )
    return table(("", ""), [*rows], left=2).strip()


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


def health_text(health: Health) -> str:
    classes = ", ".join(f"{percent(used)} as {name}" for name, used in health.class_used.items())
    rows = [
        ("percentage used", percent(health.percentage_used)),
        ("most worn block", classes),
        ("erases", wear_text(health.erases)),
        ("physical zones", f"{health.zones}: {health.free_zones} free, {health.stale_zones} stale"),
        ("spare blocks", _spares(health)),
        ("bad blocks", _bad(health)),
        (
            "dies that hang",
            ", ".join(f"channel {d['channel']} die {d['die']}" for d in health.hung_dies) or "0",
        ),
        ("pages cut short", str(health.torn_pages)),
        ("reads of a block", f"{health.most_reads:,} at most since its erase"),
        ("expired data", ", ".join(health.expired_streams) or "none"),
    ]
    parts = ["\n".join(f"{name:<18}{value}" for name, value in rows), _dies(health)]
    if health.bad_blocks:
        shown = [
            (
                f"channel {one.channel} die {one.die} plane {one.plane} block {one.block}",
                ", ".join(one.flags), "-" if one.replacement is None else str(one.replacement),
                str(one.erases),
            )
            for one in health.bad_blocks[:_MOST_BAD]
        ]  # fmt: skip
        left = len(health.bad_blocks) - len(shown)
        parts.append(table(("block", "condition", "replaced by", "erases"), shown, left=2))
        if left:
            parts[-1] += f"\nand {left} more"
    return "\n\n".join(parts)


def scrub_text(scrub: Scrub) -> str:
    columns = ("scrub", "zone", "pages", "changed", "torn", "corrected", "bits", "most", "retries", "lost")
    rows = [
        (one.stream or "stale", "-" if one.zone is None else str(one.zone), *_counts(one.pages))
        for one in scrub.zones
    ]
    return table(columns, [*rows, ("all", "", *_counts(scrub.all))], left=1)


def _counts(count: Any) -> tuple[str, ...]:
    return tuple(
        f"{number:,}"
        for number in (
            count.read, count.changed, count.torn, count.corrected_pages, count.corrected_bits,
            count.most_corrected, count.retries, count.uncorrectable,
        )
    )  # fmt: skip


def journal_text(found: Inspection) -> str:
    journal = found.journal
    if journal.stream is None:
        return "the node has no journal"
    lines = [
        ("physical zones", ", ".join(map(str, journal.physical_zones)) or "none"),
        ("used", f"{journal.used_blocks:,} blocks of the newer zone"),
    ]
    record = journal.record
    if record is None:
        lines.append(("record", "none: nothing was recorded since the device was formatted"))
    else:
        moments = ", ".join(f"{one['sequence']} at {duration(one['time'])}" for one in record.moments)
        copy = record.copy
        lines += [
            ("record", f"number {record.number}, {'clean' if record.clean else 'not clean'}"),
            ("spares", "may be in use" if record.spares_possible else "none in use"),
            ("allocations", moments or "none"),
            ("wear", f"of {record.wear_known} physical zones, {record.most_wear} erases at most"),
            ("refresh", "none" if copy is None else f"zone {copy['zone']} by way of zone {copy['spare']}"),
            ("retired", ", ".join(f"zone {z} {s}" for z, s in record.retired.items()) or "none"),
        ]
    text = "\n".join(f"{name:<18}{value}" for name, value in lines)
    if record is not None:
        rows = [
            (
                one.stream, str(one.generation), str(one.commit or "-"), str(one.updates),
                "yes" if one.pinned else "no", str(one.highest_floor), note_text(one.note_bytes, one.note),
            )
            for one in record.entries
        ]  # fmt: skip
        text += "\n\n" + table(("stream", "generation", "commit", "updates", "pinned", "floor", "note"), rows)
    kept = [(one.stream, str(one.generation), str(one.zones), f"{one.blocks:,}") for one in journal.recovered]
    return (
        f"{text}\n\na recovery after {'a shutdown' if journal.clean else 'a loss of power'}"
        f" reads {journal.records_read} record{'' if journal.records_read == 1 else 's'},"
        f" erases {journal.erased_zones} physical zones, and keeps\n"
        + table(("stream", "generation", "zones", "blocks"), kept)
    )


def catalog_text(found: Inspection) -> str:
    catalog = found.catalog
    parts = []
    if catalog.arrays:
        rows = [
            (
                one.name, one.dtype, "x".join(map(str, one.shape)) or "scalar", f"{one.bytes:,}", one.stream,
                ", ".join(f"{first:#x}+{blocks}" for first, blocks in one.extents) or "-",
            )
            for one in catalog.arrays
        ]  # fmt: skip
        parts.append(table(("array", "dtype", "shape", "bytes", "stream", "blocks"), rows, left=3))
    elif catalog.streams:
        parts.append(f"no arrays in the catalogue of stream {', '.join(catalog.streams)}")
    else:
        parts.append(f"node {found.image.node['name']} has no catalogue of arrays")
    if catalog.checkpoints:
        rows = [
            (
                one.name, one.stream, "pinned" if one.pinned else "appended",
                "-" if one.step is None else str(one.step), "-" if one.bytes is None else f"{one.bytes:,}",
            )
            for one in catalog.checkpoints
        ]  # fmt: skip
        parts.append(table(("checkpoint", "stream", "kind", "step", "bytes"), rows, left=3))
    return "\n\n".join(parts)


def wear_text(wear: Wear | None) -> str:
    return "-" if wear is None else f"{wear.min:,} / {wear.mean:,.1f} / {wear.max:,}"


def percent(part: float | None) -> str:
    if part is None:
        return "-"
    if 0 < part < 0.001:
        return "<0.001%"
    return "0%" if part == 0 else f"{part:.3f}%" if part < 1 else f"{part:.1f}%"


def duration(seconds: float | None) -> str:
    """Seconds in the unit that suits them."""
    if seconds is None:
        return "-"
    for unit, size, least in (
        ("years", 365 * 86_400, 2),
        ("days", 86_400, 2),
        ("h", 3600, 1),
        ("min", 60, 1),
    ):
        if seconds >= least * size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def note_text(nbytes: int, note: dict[str, Any] | None) -> str:
    if note is None:
        return "-"
    return f"{nbytes} bytes: {_note(note)}"


def _note(note: dict[str, Any]) -> str:
    kind = note["kind"]
    if kind == "run":
        return f"run, {note['iterations']} iterations, {note['committed']} committed"
    if kind == "checkpoint":
        return f"checkpoint {note['name']}" + (f", {_note(note['host'])}" if note["host"] else "")
    if kind == "checkpoints":
        return f"{len(note['checkpoints'])} checkpoints"
    if kind == "catalogue":
        return f"catalogue, {note['segments']} segments"
    return f"other, begins {note['begins']}"


def _alone(zone: Zone) -> int | None:
    """None for zones that may share a line."""
    return None if zone.state == ZoneState.EMPTY.name and zone.physical is None else zone.zone


def _shutdown(found: Inspection) -> str:
    record = found.journal.record
    if found.journal.clean:
        return f"clean, journal record {record.number if record else '-'}"
    return f"not clean, journal record {record.number}" if record else "not clean, no journal record"


def _verdict(health: Health) -> str:
    faults = [
        f"{len(health.bad_blocks)} bad blocks" if health.bad_blocks else "",
        f"{len(health.hung_dies)} dies that hang" if health.hung_dies else "",
        f"{health.torn_pages} pages cut short" if health.torn_pages else "",
        f"expired data in {', '.join(health.expired_streams)}" if health.expired_streams else "",
    ]
    return f"{percent(health.percentage_used)} of the endurance used; " + (
        ", ".join(filter(None, faults)) or "no faults"
    )


def _spares(health: Health) -> str:
    if not health.spares:
        return "none on this device"
    return (
        f"{health.spares_in_use} of {health.spares} in use, {health.least_spares_left} left on the plane"
        " with the fewest"
    )


def _bad(health: Health) -> str:
    flags = [flag for one in health.bad_blocks for flag in one.flags]
    return f"{len(health.bad_blocks)}" + "".join(
        f", {flags.count(flag)} {flag}" for flag in ("MARKED", "BROKEN", "STUCK", "CUT") if flag in flags
    )


def _dies(health: Health) -> str:
    dies = []
    for (channel, die), run in groupby(health.planes, lambda one: (one.channel, one.die)):
        planes = [one.erases for one in run]
        wear = Wear(
            min(one.min for one in planes),
            sum(one.mean for one in planes) / len(planes),
            max(one.max for one in planes),
        )
        by_plane = " ".join(f"{one.mean:.1f}" for one in planes)
        bad = sum(one.bad_blocks for one in health.planes if (one.channel, one.die) == (channel, die))
        dies.append((wear, (str(channel), str(die), wear_text(wear), by_plane, str(bad))))
    few = len(dies) <= _MOST_DIES
    shown = dies if few else sorted(dies, key=lambda one: -one[0].mean)[:_MOST_DIES]
    text = table(("channel", "die", "erases", "mean of each plane", "bad"), [row for _, row in shown], left=2)
    return text if few else f"{text}\nthe most worn of {len(dies)} dies"
