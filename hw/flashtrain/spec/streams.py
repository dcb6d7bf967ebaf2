"""Streams: NVMe namespaces made of zones, and what each port may do with them.

The tables of the *activation node* and of the *weight node* are Behemoth's (FAST'21, slide "Multi-stream
support for data separation"). `SINGLE_NODE` puts both on one device. `STORE_NODE` has a stream for arrays by
name besides, `UPDATE_NODE` three streams for state that is updated on the dies. `SERVE_NODE` has one stream
for hosts of NVMe over TCP, `OBJECTS_NODE` one for objects by name and one for their names. Each ends with the
driver's journal, which `flashtrain.host.recovery.recovery` needs to tell the generations of streams after a
loss of power.
"""

from dataclasses import dataclass, replace
from enum import IntEnum, IntFlag

from .errors import ConfigError, require, require_range


class Port(IntEnum):
    """A submission/completion queue pair with an identity."""

    HOST = 0
    CORE = 1


class Access(IntFlag):
    """Permissions of a port on a stream.

    Appending includes write, flush, zone management send, retire, reset, and what `spec.nvme` says of
    updates. A zone report (zone management receive) is for every port that may read or append.
    """

    NONE = 0
    READ = 1
    APPEND = 2


class Persistency(IntEnum):
    """When an append completes: on arrival in SRAM, or after its program's status has passed."""

    VOLATILE = 0
    NON_VOLATILE = 1


class Retention(IntEnum):
    """How long the data must last; a class, for wear and refresh."""

    MINUTES = 0
    DAYS = 1
    YEARS = 2

    @property
    def endurance(self) -> int:
        """P/E cycles that a block of SLC NAND stands if its data need last no longer.

        Behemoth (FAST'21): 50,000 cycles with a retention of a year, 200,000 with three days on its slides;
        its text says "at least 40 times", which is taken for minutes.
        """
        return {Retention.MINUTES: 2_000_000, Retention.DAYS: 200_000, Retention.YEARS: 50_000}[self]

    @property
    def limit(self) -> int:
        """Seconds from a zone's first append to when its data are past their class.

        A year and three days are Behemoth's (slides). How many minutes it does not say; one is an assumption,
        and what the error model keeps to (`docs/errors.md`).
        """
        return {Retention.MINUTES: 60, Retention.DAYS: 3 * 86_400, Retention.YEARS: 365 * 86_400}[self]

    @property
    def due(self) -> int:
        """Seconds after which the controller recommends to reset the zone: time enough to save its data."""
        return self.limit // 2

    @property
    def filling(self) -> int:
        """Seconds after which a driver that drops old data appends no more to a zone, although it has room.

        A zone is as old as its first append. So data appended later are refused before their class is over,
        but never before 95 % of it.
        """
        return self.limit // 20


class Expired(IntEnum):
    """Treatment of data that are past their class of retention.

    REFRESH: reads are served, so that the data can be appended anew. REFUSE: reads are refused.
    """

    REFRESH = 0
    REFUSE = 1


class Codec(IntEnum):
    """Transformation of the data on its way to the flash (`flashtrain.spec.codec`)."""

    RAW = 0  # none
    WINDOW16 = 1  # BF16, lossless
    WINDOW32 = 2  # FP32, lossless
    ROUND16 = 3  # FP32 rounded to BF16, lossy; read as FP32


CATALOG = "catalog"
"""Name of the stream that keeps arrays by name (`flashtrain.host.catalog`)."""

NAMES = "names"
"""Name of the stream that keeps the names of objects (`flashtrain.objects`)."""

JOURNAL = "journal"
"""Name of the stream that the driver writes its journal to (`flashtrain.host.recovery.journal`)."""


@dataclass(frozen=True)
class Stream:
    """One stream. `share` is its part of the device's zones, relative to the other streams of its table;
    with 0 it has exactly two.
    """

    nsid: int
    name: str
    persistency: Persistency
    retention: Retention
    host: Access
    core: Access
    share: int = 1
    codec: Codec = Codec.RAW
    expired: Expired = Expired.REFRESH

    def __post_init__(self) -> None:
        require_range("stream.nsid", self.nsid, 1, 8)
        require_range("stream.share", self.share, 0, 1000)

    def access(self, port: Port) -> Access:
        return self.host if port is Port.HOST else self.core


@dataclass(frozen=True)
class NodeTable:
    """The streams of one node; their NSIDs are distinct."""

    name: str
    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        require(len(self.streams) >= 1, "node.streams", self.streams, "at least one stream")
        for kind in ("nsid", "name"):
            values = [getattr(stream, kind) for stream in self.streams]
            require(len(set(values)) == len(values), f"node.streams[].{kind}", values, "distinct values")
        shares = [stream.share for stream in self.streams]
        require(any(shares), "node.streams[].share", shares, "a stream with a share")
        if (journal := self.journal) is not None:
            able = Access.READ | Access.APPEND
            require(
                journal.persistency is Persistency.NON_VOLATILE and journal.share == 0
                and journal.host == able and journal.core == Access.NONE and journal.codec is Codec.RAW,
                f"node.streams[{JOURNAL!r}]", journal,
                "a non-volatile stream of share 0 without a codec, for the host alone",
            )  # fmt: skip

    @property
    def journal(self) -> Stream | None:
        """The stream for the driver's journal."""
        return next((stream for stream in self.streams if stream.name == JOURNAL), None)

    @property
    def refusing_nothing(self) -> "NodeTable":
        """The same streams, but data past their class are read: for looking at them."""
        streams = tuple(replace(stream, expired=Expired.REFRESH) for stream in self.streams)
        return replace(self, streams=streams)

    def with_codecs(self, **codecs: Codec) -> "NodeTable":
        """The same streams, those of these names with a codec; :class:`ConfigError` for an unknown name."""
        for name in codecs:
            self.named(name)
        streams = tuple(
            replace(stream, codec=codecs.get(stream.name, stream.codec)) for stream in self.streams
        )
        return replace(self, streams=streams)

    def named(self, name: str) -> Stream:
        for stream in self.streams:
            if stream.name == name:
                return stream
        known = ", ".join(stream.name for stream in self.streams)
        raise ConfigError(f"node {self.name!r} has no stream {name!r}; it has {known}")

    def zones(self, total: int) -> dict[int, range]:
        """The zones of each stream, by NSID: consecutive ranges by share, at least two each.

        Zones that the division leaves over belong to the last stream that has a share.
        """
        require(total >= 2 * len(self.streams), "geometry.blocks", total,
                f"at least two zones for each of {len(self.streams)} streams")  # fmt: skip
        shares = sum(stream.share for stream in self.streams)
        free = total - 2 * len(self.streams)
        counts = {stream.nsid: 2 + free * stream.share // shares for stream in self.streams}
        last = [stream.nsid for stream in self.streams if stream.share][-1]
        counts[last] += total - sum(counts.values())
        ranges: dict[int, range] = {}
        start = 0
        for nsid, count in counts.items():
            ranges[nsid] = range(start, start + count)
            start += count
        return ranges


_V, _NV = Persistency.VOLATILE, Persistency.NON_VOLATILE
_REFUSE = Expired.REFUSE
_NO, _R, _A, _RA = Access.NONE, Access.READ, Access.APPEND, Access.READ | Access.APPEND
_JOURNAL = Stream(8, JOURNAL, _NV, Retention.YEARS, host=_RA, core=_NO, share=0)

ACTIVATION_NODE = NodeTable(
    "activation",
    (
        Stream(1, "inputs", _NV, Retention.YEARS, host=_A, core=_R),
        Stream(2, "activations", _V, Retention.MINUTES, host=_NO, core=_RA, share=2, expired=_REFUSE),
        _JOURNAL,
    ),
)

WEIGHT_NODE = NodeTable(
    "weight",
    (
        Stream(2, "weights", _V, Retention.MINUTES, host=_NO, core=_RA, share=2, expired=_REFUSE),
        Stream(3, "trained", _NV, Retention.YEARS, host=_R, core=_RA),
        _JOURNAL,
    ),
)

SINGLE_NODE = NodeTable(
    "single",
    (
        Stream(1, "inputs", _NV, Retention.YEARS, host=_A, core=_R),
        Stream(2, "activations", _V, Retention.MINUTES, host=_NO, core=_RA, share=3, expired=_REFUSE),
        Stream(3, "trained", _NV, Retention.YEARS, host=_R, core=_RA),
        Stream(4, "weights", _V, Retention.MINUTES, host=_NO, core=_RA, share=2, expired=_REFUSE),
        _JOURNAL,
    ),
)

STORE_NODE = NodeTable(
    "store",
    (
        *(stream for stream in SINGLE_NODE.streams if stream.name != JOURNAL),
        Stream(5, CATALOG, _NV, Retention.YEARS, host=_RA, core=_R, share=2),
        _JOURNAL,
    ),
)

UPDATE_NODE = NodeTable(
    "update",
    (
        Stream(1, "inputs", _NV, Retention.YEARS, host=_A, core=_R),
        Stream(2, "activations", _V, Retention.MINUTES, host=_NO, core=_RA, share=3, expired=_REFUSE),
        Stream(3, "trained", _NV, Retention.YEARS, host=_R, core=_RA),
        # Generations of optimizer state: the current one, the next one, and a pinned one. They are of equal
        # size, hence none comes last.
        *(
            Stream(nsid, name, _NV, Retention.DAYS, host=_R, core=_RA, share=2)
            for nsid, name in ((5, "state_a"), (6, "state_b"), (7, "state_c"))
        ),
        Stream(4, "weights", _V, Retention.MINUTES, host=_NO, core=_RA, expired=_REFUSE),
        _JOURNAL,
    ),
)

SERVE_NODE = NodeTable(
    "serve",
    (
        # The core may do the same: a training and the hosts of `flashtrain serve` share the stream.
        Stream(1, "storage", _NV, Retention.YEARS, host=_RA, core=_RA),
        _JOURNAL,
    ),
)

OBJECTS_NODE = NodeTable(
    "objects",
    (
        Stream(1, "objects", _NV, Retention.YEARS, host=_RA, core=_R, share=100),
        # The division leaves a zone over, so there are at least three: a loss of power may spoil one.
        Stream(2, NAMES, _NV, Retention.YEARS, host=_RA, core=_R),
        _JOURNAL,
    ),
)

NODES = {
    table.name: table
    for table in (
        ACTIVATION_NODE, WEIGHT_NODE, SINGLE_NODE, STORE_NODE, UPDATE_NODE, SERVE_NODE, OBJECTS_NODE,
    )
}  # fmt: skip
