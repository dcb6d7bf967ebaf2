"""Workloads of reads, alone and beside appends."""

from dataclasses import dataclass

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port

from ..point import BandwidthWorkload, Values, require_fitting
from .appends import VOLATILE
from .storing import Stored, bandwidth, random_bytes
from .window import Window


@dataclass(frozen=True)
class Reads(BandwidthWorkload):
    """`total` bytes in reads of `size` bytes, `depth` of them in flight, of `stored` bytes in one zone.

    Sequential reads begin again at the end of what is stored. Random ones begin at any block.
    """

    size: int
    depth: int
    total: int
    stored: int
    random: bool = False

    def run(self, device: Device) -> Values:
        blocks = require_fitting(device.config, self.size, "size")
        stream = device.stream(VOLATILE[0], Port.CORE)
        stored = Stored(device, stream, self.stored)
        out = device.buffer((self.size,), np.uint8)
        count, places = self.total // self.size, stored.blocks - blocks + 1
        if self.random:
            firsts = np.random.default_rng(13).integers(places, size=count).tolist()
        else:
            firsts = [number * blocks % (stored.blocks // blocks * blocks) for number in range(count)]
        window, begin = Window(device, self.depth), device.cycles
        for first in firsts:
            handle = stored.part(stream, first, blocks)
            window.submit(lambda handle=handle: stream.read_async(handle, out))
        window.drain()
        return bandwidth(device, count * self.size, begin)


@dataclass(frozen=True)
class AppendsAndReads(BandwidthWorkload):
    """`appends` appends, `reads` sequential reads after each, of `size` bytes each, and a flush.

    `depth` commands of both kinds together are in flight. The reads are of another stream, of `stored` bytes.
    Bytes per second of both kinds together.
    """

    reads: int
    size: int
    depth: int
    appends: int
    stored: int

    def run(self, device: Device) -> Values:
        blocks = require_fitting(device.config, self.size, "size")
        stream, source = (device.stream(name, Port.CORE) for name in VOLATILE)
        stored = Stored(device, source, self.stored)
        data, out = random_bytes(device, self.size), device.buffer((self.size,), np.uint8)
        pieces = stored.blocks // blocks
        window, begin = Window(device, self.depth), device.cycles
        for turn in range(self.appends):
            window.submit(lambda: stream.append_async(data))
            for number in range(turn * self.reads, (turn + 1) * self.reads):
                handle = stored.part(source, number % pieces * blocks, blocks)
                window.submit(lambda handle=handle: source.read_async(handle, out))
        window.drain()
        stream.flush()
        total = self.appends * (1 + self.reads) * self.size
        return bandwidth(device, total, begin)
