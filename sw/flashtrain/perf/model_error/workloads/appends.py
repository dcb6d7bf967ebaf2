"""Workloads of appends."""

from collections.abc import Iterator
from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.spec import Port

from ..point import BandwidthWorkload, Values, require_fitting
from .storing import bandwidth, random_bytes
from .window import Window

VOLATILE = ("activations", "weights")
"""Streams whose appends complete on arrival in SRAM."""
NON_VOLATILE = "trained"
"""The stream whose appends complete when they are programmed."""


@dataclass(frozen=True)
class Appends(BandwidthWorkload):
    """`total` bytes in appends of `size` bytes, `depth` of them in flight, and a flush.

    Bytes per second from the first command to the end of the flush.
    """

    size: int
    depth: int
    total: int
    stream: str = VOLATILE[0]

    def run(self, device: Device) -> Values:
        require_fitting(device.config, self.size, "size")
        stream, data = device.stream(self.stream, Port.CORE), random_bytes(device, self.size)
        window, begin = Window(device, self.depth), device.cycles
        for _ in range(self.total // self.size):
            window.submit(lambda: stream.append_async(data))
        window.drain()
        stream.flush()
        appended = self.total // self.size * self.size
        return bandwidth(device, appended, begin)


@dataclass(frozen=True)
class FlushedAppends(BandwidthWorkload):
    """So many appends of `size` bytes, a flush after each: page sets are programmed although incomplete."""

    size: int
    count: int

    def run(self, device: Device) -> Values:
        require_fitting(device.config, self.size, "size")
        stream, data = device.stream(VOLATILE[0], Port.CORE), random_bytes(device, self.size)
        begin = device.cycles
        for _ in range(self.count):
            stream.append(data)
            stream.flush()
        return bandwidth(device, self.count * self.size, begin)


@dataclass(frozen=True)
class ZoneAfterZone(BandwidthWorkload):
    """So many whole zones in appends of `size` bytes, `depth` of them in flight, and a flush.

    Two volatile streams take turns: one is reset, which leaves its zone to be erased, and then filled anew,
    while the other keeps its data.
    """

    zones: int
    size: int
    depth: int

    def run(self, device: Device) -> Values:
        streams = [device.stream(name, Port.CORE) for name in VOLATILE]
        data, window = random_bytes(device, self.size), Window(device, self.depth)
        begin, total = device.cycles, 0
        for number in range(self.zones):
            stream = streams[number % len(streams)]
            window.submit(stream.reset_async)
            for length in self._lengths(device):
                window.submit(lambda stream=stream, length=length: stream.append_async(data[:length]))
                total += length
        window.drain()
        for stream in streams:
            stream.flush()
        return bandwidth(device, total, begin)

    def _lengths(self, device: Device) -> Iterator[int]:
        require_fitting(device.config, self.size, "size")
        g = device.config.geometry
        zone = g.zone_capacity * g.page_bytes
        for start in range(0, zone, self.size):
            yield min(self.size, zone - start)
