"""Streams: what they hold, how worn it is, and what the journal has recorded of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flashtrain.spec import Access, Stream

from .inspected import Recovered
from .notes import note_document
from .wear import Wear
from .zones import Zone


@dataclass(frozen=True)
class StreamUse:
    """A stream, as the next opening finds it.

    - states: numbers of its zones by state.
    - erases: of the blocks with its content; endurance: erases that its retention class stands.
    - endurance_used: of the most worn block, in per cent.
    - oldest_seconds, limit_seconds: the age of its oldest data, and that at which its class ends.
    - generation, updates, committed, pinned, note_bytes, note: as the journal has recorded them.
    """

    name: str
    nsid: int
    persistency: str
    retention: str
    host: str
    core: str
    codec: str
    zones: int
    states: dict[str, int]
    capacity_bytes: int
    written_bytes: int
    erases: Wear | None
    endurance: int
    endurance_used: float | None
    oldest_seconds: float | None
    limit_seconds: int
    generation: int
    committed: bool
    updates: int
    pinned: bool
    note_bytes: int
    note: dict[str, Any] | None


def streams(image: Recovered, zones: Sequence[Zone]) -> list[StreamUse]:
    """All streams; `zones` are those of the image."""
    return [
        _use(image, stream, [zone for zone in zones if zone.nsid == stream.nsid])
        for stream in image.node.streams
    ]


def _use(image: Recovered, stream: Stream, own: Sequence[Zone]) -> StreamUse:
    g = image.config.geometry
    wear = _wear(image, stream)
    ages = [zone.age_seconds for zone in own if zone.age_seconds is not None]
    record = image.report.record
    entry = None if record is None else record.streams.get(stream.nsid)
    note = b"" if entry is None else entry.note
    return StreamUse(
        name=stream.name,
        nsid=stream.nsid,
        persistency=stream.persistency.name,
        retention=stream.retention.name,
        host=_access(stream.host),
        core=_access(stream.core),
        codec=stream.codec.name,
        zones=len(own),
        states=dict(Counter(zone.state for zone in own)),
        capacity_bytes=len(own) * g.zone_capacity * g.page_bytes,
        written_bytes=sum(zone.written_blocks for zone in own) * g.page_bytes,
        erases=wear,
        endurance=stream.retention.endurance,
        endurance_used=None if wear is None else wear.used(stream.retention),
        oldest_seconds=max(ages, default=None),
        limit_seconds=stream.retention.limit,
        generation=0 if entry is None else entry.generation,
        committed=entry is not None and entry.commit > 0,
        updates=0 if entry is None else entry.updates,
        pinned=entry is not None and entry.pinned,
        note_bytes=len(note),
        note=note_document(note),
    )


def _wear(image: Recovered, stream: Stream) -> Wear | None:
    owners = [owner for owner in image.report.kept if owner.nsid == stream.nsid]
    numbers = [index for owner in owners for index in image.blocks.of_zone(owner.physical, owner.spares)]
    return Wear.of(image.blocks.erases.take(numbers)) if numbers else None


def _access(access: Access) -> str:
    return "+".join(one.name or "" for one in Access if one in access).lower() or "-"
