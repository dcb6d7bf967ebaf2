"""Everything about a device that an answer can depend on."""

from dataclasses import dataclass, field
from typing import NamedTuple

from flashtrain.spec import Access, Port, Submission, ZoneState
from flashtrain.spec.registers import StreamAttributes
from flashtrain.spec.streams import Codec, Retention

from .tile_step import DieStep

Page = bytes | None
"""Content of a block; None where the contract leaves it undefined."""

OPEN = frozenset({ZoneState.IMPLICITLY_OPEN, ZoneState.EXPLICITLY_OPEN})
ACTIVE = OPEN | {ZoneState.CLOSED}
RETIRED = frozenset({ZoneState.READ_ONLY, ZoneState.OFFLINE})


@dataclass(frozen=True)
class StreamRights:
    """A stream as its registers describe it."""

    zones: int
    host: Access
    core: Access
    non_volatile: bool
    retention: Retention = Retention.MINUTES
    refuses: bool = False
    codec: Codec = Codec.RAW

    def of(self, port: Port) -> Access:
        return self.host if port is Port.HOST else self.core

    @property
    def encodes(self) -> bool:
        """Whether the stream has a codec."""
        return self.codec is not Codec.RAW

    def codec_of(self, entry: int) -> Codec:
        """The codec of the data of a command to the stream."""
        return Codec.WINDOW16 if self.encodes and Submission.exact.get(entry) else self.codec

    @property
    def attributes(self) -> int:
        """The ATTRIBUTES register."""
        a = StreamAttributes
        return (
            1 << a.valid.low | self.non_volatile << a.non_volatile.low
            | self.host << a.host.low | self.core << a.core.low
            | self.retention << a.retention.low | self.refuses << a.refuses.low
            | self.codec << a.codec.low
        )  # fmt: skip


class Encoded(NamedTuple):
    """An append to a stream with a codec.

    - `codec`: of its pages.
    - `stored`: its pages.
    - `data`: the data that a read of all its pages gives.
    """

    codec: Codec
    stored: int
    data: bytes


@dataclass
class ZoneEntry:
    """A zone: its state, the blocks below its write pointer, and the time of the first of them.

    *Finish* leaves the write pointer where it is.

    - `unsure`: blocks behind the write pointer may have been written.
    - `encoded`: the appends that were encoded, by their first block.
    - `resembling`: other pages that may look like an append, by their first block. No answer depends on it.
    """

    state: ZoneState = ZoneState.EMPTY
    pages: list[Page] = field(default_factory=list)
    since: int = 0
    unsure: bool = False
    encoded: dict[int, Encoded] = field(default_factory=dict)
    resembling: dict[int, Encoded] = field(default_factory=dict)

    @property
    def written(self) -> int:
        return len(self.pages)

    def reset(self) -> None:
        if self.state not in RETIRED:
            self.state, self.pages, self.since, self.unsure = ZoneState.EMPTY, [], 0, False
            self.encoded, self.resembling = {}, {}

    def copy(self) -> "ZoneEntry":
        encoded, resembling = dict(self.encoded), dict(self.resembling)
        pages = list(self.pages)
        return ZoneEntry(self.state, pages, self.since, self.unsure, encoded, resembling)

    def has_lasted(self, seconds: int, now: int) -> bool:
        """Whether its oldest data are so old; the clock has 32 bits, and what is from the future is not."""
        return self.written > 0 and not (now - self.since - seconds) & 1 << 31


def append_pages(
    zone: ZoneEntry, pages: list[Page], capacity: int, now: int, encoded: Encoded | None = None
) -> None:
    """The zone gets older from its first page on; it is full, or open, implicitly unless it was.

    An encoded append makes no zone full.
    """
    if encoded is not None:
        zone.encoded[zone.written] = encoded
    if not zone.written:
        zone.since = now
    zone.pages += pages
    if zone.written == capacity and encoded is None:
        zone.state = ZoneState.FULL
    elif zone.state not in OPEN:
        zone.state = ZoneState.IMPLICITLY_OPEN


@dataclass
class StreamState:
    """generation: resets of all zones at once since the enable."""

    zones: list[ZoneEntry]
    rights: StreamRights
    pinned: bool = False
    uncommitted: bool = False
    generation: int = 0

    @classmethod
    def empty(cls, rights: StreamRights) -> "StreamState":
        return cls([ZoneEntry() for _ in range(rights.zones)], rights)

    def refuses(self, zone: ZoneEntry, now: int) -> bool:
        """Whether the data of one of its zones are too old for it."""
        return self.rights.refuses and zone.has_lasted(self.rights.retention.limit, now)

    @property
    def open(self) -> int:
        return sum(zone.state in OPEN for zone in self.zones)

    @property
    def implicitly_open(self) -> ZoneEntry | None:
        """The zone that is closed if another one lacks an open resource: the first of its kind."""
        return next((zone for zone in self.zones if zone.state is ZoneState.IMPLICITLY_OPEN), None)

    def make_room(self, zone: ZoneEntry, most: int) -> None:
        """Before `zone` is opened, of at most so many."""
        if zone.state not in OPEN and self.open >= most and self.implicitly_open is not None:
            self.implicitly_open.state = ZoneState.CLOSED

    @property
    def active(self) -> int:
        return sum(zone.state in ACTIVE for zone in self.zones)

    def reset(self) -> None:
        """All zones: a new generation, which has nothing uncommitted. Retired zones stay what they are."""
        for zone in self.zones:
            zone.reset()
        self.uncommitted = False
        self.generation += 1

    def copy(self) -> "StreamState":
        zones = [zone.copy() for zone in self.zones]
        return StreamState(zones, self.rights, self.pinned, self.uncommitted, self.generation)


@dataclass
class DeviceState:
    """State of an enabled device: its streams by NSID, and the optimizer step that each die holds.

    - `recovering`: the device accepts INSPECT and RESTORE only.
    - `released`: physical zones that the recovery has freed.
    - `now`: register TIME.
    """

    streams: dict[int, StreamState]
    dies: list[DieStep]
    recovering: bool = False
    released: frozenset[int] = frozenset()
    now: int = 0

    def copy(self) -> "DeviceState":
        streams = {nsid: stream.copy() for nsid, stream in self.streams.items()}
        dies = [die.copy() for die in self.dies]
        return DeviceState(streams, dies, self.recovering, self.released, self.now)
