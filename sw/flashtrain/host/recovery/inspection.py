"""Reads of pages with their identities while the controller is in recovery, many at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.queues.dispatcher import Dispatcher, Request
from flashtrain.host.queues.entries import Command
from flashtrain.host.queues.pending import Pending
from flashtrain.numerics.checksums import crc16_rows
from flashtrain.spec import Geometry, Opcode, Port
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nvme import BitField

Numbers = NDArray[np.int64]


class Span(NamedTuple):
    """Pages of a physical zone, from its block `offset` on."""

    physical: int
    offset: int
    blocks: int


@dataclass(frozen=True)
class Identities:
    """The fields of `PageIdentity` of each page of a span.

    valid: whether the page has an identity with a right CRC that names the page's own place.
    """

    span: Span
    valid: NDArray[np.bool_]
    nsid: Numbers
    updated: Numbers
    zone: Numbers
    generation: Numbers
    sequence: Numbers
    wear: Numbers

    @classmethod
    def parse(cls, span: Span, records: NDArray[np.uint8], geometry: Geometry) -> "Identities":
        """The identities from their records, uint8[pages, bytes]."""
        p, g = PageIdentity, geometry
        words = np.ascontiguousarray(records).view("<u8")

        def field(of: BitField) -> Numbers:
            return _field(words, of)

        offsets = np.arange(span.offset, span.offset + span.blocks)
        place = (
            (p.channel, offsets % g.channels),
            (p.plane, offsets // g.channels % g.planes),
            (p.die, offsets // (g.channels * g.planes) % g.dies),
            (p.page, offsets // g.superpage),
        )
        valid = (crc16_rows(records[:, : p.CHECKED_BYTES]) == field(p.crc)) & (field(p.version) == p.VERSION)
        for of, expected in place:
            valid &= field(of) == expected
        return cls(
            span, valid, field(p.stream) + 1, field(p.updated), field(p.zone), field(p.generation),
            field(p.sequence), field(p.wear),
        )  # fmt: skip


class Inspector:
    """Sends INSPECT commands; `nsid` is any existing namespace."""

    def __init__(self, dispatcher: Dispatcher, nsid: int) -> None:
        self._dispatcher = dispatcher
        self._nsid = nsid
        self._config = dispatcher.link.config
        # A quarter of the tensor buffer at most, so that several commands are in flight.
        self._most = min(self._config.max_blocks, max(1, dispatcher.buffer.blocks // 4))

    def identities(self, spans: Iterable[Span]) -> list[Identities]:
        """The identities of the pages of each span."""
        g = self._config.geometry
        return [Identities.parse(span, records, g) for span, records in self.records(spans)]

    def records(self, spans: Iterable[Span]) -> list[tuple[Span, NDArray[np.uint8]]]:
        """The last bytes of the pages of each span, uint8[pages, bytes], valid identities or not."""
        size = PageIdentity.BYTES
        return self._collect(spans, size, lambda pages: pages[:, -size:])

    def pages(self, span: Span) -> NDArray[np.uint8]:
        """The pages of a span, uint8[pages, bytes]; the last bytes are their identities."""
        return self._collect([span], self._config.geometry.page_bytes, lambda pages: pages)[0][1]

    def _collect(
        self, spans: Iterable[Span], size: int, part: Callable[[NDArray[np.uint8]], NDArray[np.uint8]]
    ) -> list[tuple[Span, NDArray[np.uint8]]]:
        """Spans, each with uint8[pages, size]: bytes of its pages, which `part` takes from whole pages."""
        collected, requests = [], []
        for span in spans:
            target = np.empty((span.blocks, size), np.uint8)
            collected.append((span, target))
            for start in range(0, span.blocks, self._most):
                piece = target[start : start + self._most]
                requests.append(self._submit(span, start, piece, part))
        Pending(self._dispatcher, requests, "all", lambda _: None).result()
        return collected

    def _submit(
        self,
        span: Span,
        start: int,
        target: NDArray[np.uint8],
        part: Callable[[NDArray[np.uint8]], NDArray[np.uint8]],
    ) -> Request:
        g, blocks = self._config.geometry, len(target)
        region = self._dispatcher.region(blocks)

        def deliver(data: NDArray[np.uint8]) -> None:
            target[:] = part(data.reshape(blocks, g.page_bytes))

        slba = span.physical * g.zone_size + span.offset + start
        command = Command(Opcode.INSPECT, self._nsid, slba, blocks, region.address, blocks * g.page_bytes)
        request = Request(Port.HOST, command, region, deliver=deliver)
        self._dispatcher.submit([request])
        return request


def _field(words: NDArray[np.uint64], of: BitField) -> Numbers:
    """A field of records of two 64-bit words each."""
    word, low = divmod(of.low, 64)
    value = words[:, word] >> np.uint64(low)
    if low + of.width > 64:
        value |= words[:, word + 1] << np.uint64(64 - low)
    return (value & np.uint64((1 << of.width) - 1)).astype(np.int64)
