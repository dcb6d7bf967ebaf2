"""Data in the tensor buffer and in the flash, for workloads."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, DeviceStream, Extent, StoredArray
from flashtrain.perf.measurement import BenchmarkError

from ..point import Quantity, Values, require_fitting


def random_bytes(device: Device, size: int) -> NDArray[np.uint8]:
    """Random bytes in the tensor buffer: uint8[size]."""
    data = device.buffer((size,), np.uint8)
    data[:] = np.random.default_rng(12).integers(0, 256, size, np.uint8)
    return data


class Stored:
    """The first `size` bytes of a zone of `stream`, appended and flushed: all in the arrays of the dies."""

    def __init__(self, device: Device, stream: DeviceStream, size: int) -> None:
        blocks = require_fitting(device.config, size, "stored")
        if blocks > stream.zone_capacity:
            raise BenchmarkError(
                f"stored is {blocks} blocks; expected a zone's {stream.zone_capacity} at most"
            )
        self.blocks = blocks
        self._page = device.config.geometry.page_bytes
        self._first = stream.append(random_bytes(device, size)).extents[0].lba
        stream.flush()

    def part(self, stream: DeviceStream, first: int, blocks: int) -> StoredArray:
        """A handle of `blocks` blocks from block `first` on, for a stream of any port."""
        extent = Extent(self._first + first, blocks)
        return stream.stored_at([extent], (blocks * self._page,), np.uint8)


def seconds_since(device: Device, begin: int) -> float:
    """The device's time since cycle `begin`."""
    return (device.cycles - begin) / device.config.timing.clock_hz


def bandwidth(device: Device, size: int, begin: int) -> Values:
    """The rate of `size` bytes since cycle `begin`."""
    return {Quantity.BANDWIDTH: size / seconds_since(device, begin) / 1e9}
