"""Latencies of small reads, on an idle device and beside appends."""

from dataclasses import dataclass

import numpy as np

from flashtrain.host import Device
from flashtrain.perf.append import settling_superpages
from flashtrain.perf.feed import Feed
from flashtrain.spec import NodeTable, Port
from flashtrain.spec.streams import SINGLE_NODE

from ..point import Quantity, Values
from .appends import NON_VOLATILE, VOLATILE
from .storing import Stored, random_bytes
from .window import Window

PIECES = 4
"""Appends per superpage."""


@dataclass(frozen=True)
class SmallReads:
    """`count` reads of one random block each by the host, `depth` of them in flight.

    beside_appends: the core keeps the write buffers full meanwhile. Median and 99th percentile of the time
    from before the doorbell until the completion is seen.
    """

    depth: int
    count: int
    stored: int
    beside_appends: bool

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (Quantity.P50, Quantity.P99)

    @property
    def node(self) -> NodeTable:
        return SINGLE_NODE

    def run(self, device: Device) -> Values:
        g = device.config.geometry
        stored = Stored(device, device.stream(NON_VOLATILE, Port.CORE), self.stored)
        reader, out = device.stream(NON_VOLATILE, Port.HOST), device.buffer((g.page_bytes,), np.uint8)
        feed = self._feed(device) if self.beside_appends else None
        window, random = Window(device, self.depth), np.random.default_rng(14)
        for block in random.integers(stored.blocks, size=self.count).tolist():
            if feed is not None:
                feed.keep_going()
            handle = stored.part(reader, block, 1)
            window.submit(lambda handle=handle: reader.read_async(handle, out))
        window.drain()
        latencies = np.array(window.latencies) / device.config.timing.clock_mhz
        median, high = np.percentile(latencies, [50, 99], method="higher").tolist()
        return {Quantity.P50: median, Quantity.P99: high}

    @staticmethod
    def _feed(device: Device) -> Feed:
        """Appends of a quarter of a superpage each; the write buffers are full at the return."""
        g, margin = device.config.geometry, settling_superpages(device.config)
        piece = max(1, g.superpage // PIECES) * g.page_bytes
        pieces = random_bytes(device, PIECES * piece).reshape(PIECES, piece)
        feed = Feed(device.stream(VOLATILE[0], Port.CORE), pieces, PIECES * (margin + 1))
        feed.keep_going()
        device.link.run(margin * device.config.timing.cycles("tprog"))
        return feed
