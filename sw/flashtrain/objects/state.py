"""The names of objects in memory: what a snapshot has, and what a change does to it."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flashtrain.host.streams.stored import Extent

from .folders import Folders

_MOST_RECENT = 64


class Entry(NamedTuple):
    """An object, or a folder that was made.

    - number: of its assignment; no other object ever has it, and it stays when the object is renamed.
    - size: in bytes; None: a folder.
    - created, modified: in seconds since 1970, by the clock of the host that wrote it.
    - extents: the blocks that have its bytes, in their order.
    """

    number: int
    size: int | None
    created: float
    modified: float
    extents: tuple[Extent, ...] = ()

    def packed(self) -> list[Any]:
        flat = [number for extent in self.extents for number in extent]
        return [self.number, self.size, self.created, self.modified, flat]

    @classmethod
    def unpack(cls, fields: list[Any]) -> "Entry":
        number, size, created, modified, flat = fields
        extents = (Extent(*pair) for pair in zip(flat[::2], flat[1::2], strict=True))
        return cls(number, size, created, modified, tuple(extents))


class ZoneKey(NamedTuple):
    """A zone of a stream."""

    nsid: int
    zone: int


UNKNOWN_CONTROLLER = -1


class ZoneNote(NamedTuple):
    """A zone that objects use or have used.

    - owner: the client that appends to it or resets it, and nobody else; empty: none.
    - beat: changes with each sign of life of the owner.
    - freed: the sequence number of the change after which the zone was reset for the last time.
    - controller: that of the owner's connection; `UNKNOWN_CONTROLLER` in a note of an earlier version.
    """

    owner: str = ""
    beat: int = 0
    freed: int = 0
    controller: int = UNKNOWN_CONTROLLER

    def claimed(self, owner: str, controller: int) -> "ZoneNote":
        return self._replace(owner=owner, beat=self.beat + 1, controller=controller)

    def released(self) -> "ZoneNote":
        return self._replace(owner="")


@dataclass(frozen=True)
class Change:
    """New entries and notes; None: the name is gone."""

    entries: dict[str, Entry | None] = field(default_factory=dict)
    zones: dict[ZoneKey, ZoneNote] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entries or self.zones)

    def packed(self) -> dict[str, Any]:
        return {
            "entries": {path: entry and entry.packed() for path, entry in self.entries.items()},
            "zones": [[*key, *note] for key, note in self.zones.items()],
        }

    @classmethod
    def unpack(cls, document: dict[str, Any]) -> "Change":
        return cls(
            {path: None if row is None else Entry.unpack(row) for path, row in document["entries"].items()},
            {ZoneKey(*row[:2]): ZoneNote(*row[2:]) for row in document["zones"]},
        )


class State:
    """All names after the record of number `sequence`.

    - following: the number of the next assignment.
    - recent: the tokens of the last records, by which their writers know that they count.
    """

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.folders = Folders()
        self.zones: dict[ZoneKey, ZoneNote] = {}
        self.sequence = 0
        self.following = 1
        self.recent: deque[int] = deque(maxlen=_MOST_RECENT)

    def apply(self, change: Change, token: int) -> None:
        """Become the state after a change, which is the record of this token."""
        for path, entry in change.entries.items():
            if entry is None:
                if self.entries.pop(path, None) is not None:
                    self.folders.discard(path)
            else:
                self.entries[path] = entry
                self.folders.add(path)
                self.following = max(self.following, entry.number + 1)
        self.zones.update(change.zones)
        self.sequence += 1
        self.recent.append(token)

    def note(self, key: ZoneKey) -> ZoneNote:
        return self.zones.get(key, ZoneNote())

    def released(self, keys: Iterable[ZoneKey], owner: str) -> dict[ZoneKey, ZoneNote]:
        """The notes of these zones without this owner."""
        return {key: self.note(key).released() for key in keys if self.note(key).owner == owner}

    def packed(self) -> dict[str, Any]:
        document = Change(dict(self.entries), self.zones).packed()
        return {**document, "following": self.following, "recent": list(self.recent)}

    @classmethod
    def unpack(cls, document: dict[str, Any], sequence: int) -> "State":
        state = cls()
        state.apply(Change.unpack(document), 0)
        state.sequence, state.following = sequence, document["following"]
        state.recent = deque(document["recent"], _MOST_RECENT)
        return state
