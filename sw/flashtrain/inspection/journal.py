"""The journal: its newest record, and what a recovery makes of it."""

from dataclasses import dataclass
from typing import Any

from flashtrain.host.recovery.journal_record import Record

from .inspected import Recovered
from .notes import note_document


@dataclass(frozen=True)
class JournalEntry:
    """The entry of a stream in a record; commit: the number of the record that committed its generation."""

    stream: str
    nsid: int
    generation: int
    commit: int
    updates: int
    pinned: bool
    note_bytes: int
    note: dict[str, Any] | None
    highest_floor: int


@dataclass(frozen=True)
class JournalRecord:
    """The newest record.

    - clean: the device was shut down after it.
    - spares_possible: spares may be in use.
    - moments: when which allocation came next; data are at least as young as the moment before theirs.
    - copy: a refresh that has not ended.
    - retired: zones out of service, counted device-wide, by number.
    - wear_known: the physical zones whose erases it has, and the most of these erases.
    """

    number: int
    clean: bool
    spares_possible: bool
    entries: list[JournalEntry]
    moments: list[dict[str, int]]
    copy: dict[str, Any] | None
    retired: dict[str, str]
    wear_known: int
    most_wear: int


@dataclass(frozen=True)
class RecoveredContent:
    """The content of a non-volatile stream that a recovery keeps."""

    stream: str
    generation: int
    zones: int
    blocks: int


@dataclass(frozen=True)
class Journal:
    """The journal of a node, and the report of the recovery that the next opening makes.

    - stream: None in a node without a journal.
    - record: None if nothing was recorded since the device was formatted.
    - physical_zones: those that hold the journal; used_blocks: of the newer one.
    """

    stream: str | None
    physical_zones: list[int]
    used_blocks: int
    records_read: int
    record: JournalRecord | None
    clean: bool
    recovered: list[RecoveredContent]
    erased_zones: int
    spares_in_use: int
    retired_zones: int


def journal(image: Recovered) -> Journal:
    report, table = image.report, image.node.journal
    own = sorted(
        (owner for owner in report.kept if table is not None and owner.nsid == table.nsid),
        key=lambda owner: owner.sequence,
    )
    newest = image.blocks.of_zone(own[-1].physical, own[-1].spares) if own else []
    return Journal(
        stream=None if table is None else table.name,
        physical_zones=[owner.physical for owner in own],
        used_blocks=int(image.blocks.pages.take(newest).sum()) if own else 0,
        records_read=report.records,
        record=None if report.record is None else _record(image, report.record),
        clean=report.clean,
        recovered=[
            RecoveredContent(one.name, one.generation, one.zones, one.blocks) for one in report.streams
        ],
        erased_zones=report.erased,
        spares_in_use=report.spares,
        retired_zones=report.retired,
    )


def _record(image: Recovered, record: Record) -> JournalRecord:
    zones = image.node.zones(image.config.geometry.zones)
    entries = []
    for stream in image.node.streams:
        if not stream.persistency or stream is image.node.journal:
            continue
        entry, own = record.stream(stream.nsid), zones[stream.nsid]
        floors = record.floors[own.start : own.stop]
        entries.append(
            JournalEntry(
                stream.name, stream.nsid, entry.generation, entry.commit, entry.updates, entry.pinned,
                len(entry.note), note_document(entry.note), max(floors, default=0),
            )
        )  # fmt: skip
    copy = record.copy
    return JournalRecord(
        number=record.number,
        clean=record.clean,
        spares_possible=record.replaced,
        entries=entries,
        moments=[moment._asdict() for moment in record.moments],
        copy=None if copy is None else {"zone": copy.zone, "spare": copy.spare, "whole": copy.whole},
        retired={str(zone): state.name for zone, state in sorted(record.retired.items())},
        wear_known=sum(wear > 0 for wear in record.wear),
        most_wear=max(record.wear, default=0),
    )
