"""Workloads of streams with a codec. Sizes and bandwidths are those of user data."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, DeviceStream, Pending, StoredArray
from flashtrain.perf.codec.contents import Contents
from flashtrain.spec import NodeTable, Port
from flashtrain.spec.streams import SINGLE_NODE, Codec

from ..point import BandwidthWorkload, Values, require_fitting
from .storing import bandwidth
from .window import Window

STREAM, SOURCE, KEPT = "activations", "weights", "trained"
"""Two volatile streams, and a non-volatile one."""


@dataclass(frozen=True)
class CodedWorkload(BandwidthWorkload):
    """A workload whose streams have `codec`, and whose arrays of `size` bytes have these contents."""

    contents: Contents
    size: int
    depth: int
    codec: Codec = Codec.WINDOW16

    @property
    def node(self) -> NodeTable:
        return SINGLE_NODE.with_codecs(**dict.fromkeys((STREAM, SOURCE, KEPT), self.codec))

    def data(self, device: Device) -> NDArray[np.generic]:
        """An array in the tensor buffer: BF16 for WINDOW16, else FP32 with all its bits."""
        require_fitting(device.config, self.size, "size")
        data = device.buffer((self.size // 2,), np.uint16)
        data[:] = self.contents.make(len(data))
        return data if self.codec is Codec.WINDOW16 else data.view(np.float32)


@dataclass(frozen=True)
class CodedAppends(CodedWorkload):
    """So many appends, `depth` of them in flight, and a flush."""

    appends: int = 1
    stream: str = STREAM

    def run(self, device: Device) -> Values:
        stream, data = device.stream(self.stream, Port.CORE), self.data(device)
        window, begin = Window(device, self.depth), device.cycles
        for _ in range(self.appends):
            window.submit(lambda: stream.append_async(data))
        window.drain()
        stream.flush()
        return bandwidth(device, self.appends * self.size, begin)


@dataclass(frozen=True)
class CodedReads(CodedWorkload):
    """So many reads of stored arrays in turn, `depth` of them in flight, all from the arrays of the dies."""

    reads: int = 1
    stored: int = 1

    def run(self, device: Device) -> Values:
        stream, data = device.stream(STREAM, Port.CORE), self.data(device)
        handles = _store(stream, data, self.stored)
        out = device.buffer(data.shape, data.dtype)
        window, begin = Window(device, self.depth), device.cycles
        for number in range(self.reads):
            window.submit(_read(stream, handles[number % self.stored], out))
        window.drain()
        return bandwidth(device, self.reads * self.size, begin)


@dataclass(frozen=True)
class CodedAppendsAndReads(CodedWorkload):
    """So many appends, `reads` reads of another stream after each, and a flush."""

    appends: int = 1
    reads: int = 1
    stored: int = 1

    def run(self, device: Device) -> Values:
        stream, source = (device.stream(name, Port.CORE) for name in (STREAM, SOURCE))
        data = self.data(device)
        handles = _store(source, data, self.stored)
        out = device.buffer(data.shape, data.dtype)
        window, begin = Window(device, self.depth), device.cycles
        for turn in range(self.appends):
            window.submit(lambda: stream.append_async(data))
            for number in range(turn * self.reads, (turn + 1) * self.reads):
                window.submit(_read(source, handles[number % self.stored], out))
        window.drain()
        stream.flush()
        return bandwidth(device, self.appends * (1 + self.reads) * self.size, begin)


def _store(stream: DeviceStream, data: NDArray[np.generic], count: int) -> list[StoredArray]:
    handles = [stream.append(data) for _ in range(count)]
    stream.flush()
    return handles


def _read(
    stream: DeviceStream, handle: StoredArray, out: NDArray[np.generic]
) -> Callable[[], Pending[NDArray[np.generic]]]:
    return lambda: stream.read_async(handle, out)
