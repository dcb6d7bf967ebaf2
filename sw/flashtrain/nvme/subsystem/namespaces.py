"""Namespaces: the streams of a device that hosts see, and their sizes."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID, uuid5

from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Access, FmsConfig, NodeTable, Persistency, Port, Stream
from flashtrain.spec.host_commands import EVERY_NAMESPACE, is_namespace

MOST_TRANSFER_BYTES = 1 << 20
"""The most data of one command, whatever the device can: connections hold as much in memory."""

_NAMES = UUID("6b1f3c0e-3d3c-5b1a-9d3f-5a0f4c3e7a11")


@dataclass(frozen=True)
class Namespace:
    """One stream as hosts see it. Sizes are in logical blocks."""

    stream: Stream
    zones: int
    zone_size: int
    zone_capacity: int
    block_bytes: int
    uuid: UUID

    @property
    def nsid(self) -> int:
        return self.stream.nsid

    @property
    def blocks(self) -> int:
        return self.zones * self.zone_size

    @property
    def writable(self) -> bool:
        """Whether hosts may write it."""
        return Access.APPEND in self.stream.access(Port.HOST)

    @property
    def volatile(self) -> bool:
        """Whether a completed write may be lost with the power."""
        return self.stream.persistency is Persistency.VOLATILE


def namespaces_of(config: FmsConfig, node: NodeTable, serial: str) -> dict[int, Namespace]:
    """The namespaces of a device by NSID."""
    g = config.geometry
    zones = node.zones(g.zones)
    return {
        stream.nsid: Namespace(
            stream, len(zones[stream.nsid]), g.zone_size, g.zone_capacity, g.page_bytes,
            uuid5(_NAMES, f"{serial}/{stream.nsid}"),
        )
        for stream in node.streams
        if is_namespace(stream)
    }  # fmt: skip


def refusal_of(nsid: int, namespaces: Collection[int]) -> TargetStatus:
    """The status of a command to an NSID of no namespace (Base figure 87).

    An inactive NSID is an invalid field, and so is that of all namespaces where a command has one. Others
    cannot exist.
    """
    unused = 0 < nsid <= max(namespaces) or nsid == EVERY_NAMESPACE
    return TargetStatus.INVALID_FIELD if unused else TargetStatus.INVALID_NAMESPACE


def transfer_exponent(config: FmsConfig, most_bytes: int = MOST_TRANSFER_BYTES) -> int:
    """MDTS: the most blocks of a transfer as a power of two of 4 KiB. most_bytes: of who moves the data."""
    most = min(config.max_blocks * config.geometry.page_bytes, most_bytes)
    return max((most >> 12).bit_length() - 1, 0)
