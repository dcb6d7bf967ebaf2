"""The journal of a device, and its arrays and checkpoints by name, as text."""

from flashtrain.inspection import Content

from .console import table
from .device_values import duration, note_text


def journal_text(content: Content) -> str:
    journal = content.journal
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


def catalog_text(content: Content) -> str:
    catalog = content.catalog
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
        parts.append("the node has no catalogue of arrays")
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
