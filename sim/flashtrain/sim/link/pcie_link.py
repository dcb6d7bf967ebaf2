"""A simulated drive on PCI Express: front end and controller in RTL."""

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.errors import DeviceHang
from flashtrain.sim.link.library import build_library
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.sim.link.rtl_link import MemoryTiming, RtlLink
from flashtrain.spec import FmsConfig

MEMORY_BYTES = 128 << 20
"""Of the host, where no other memory is mapped."""

QUEUE_TRAFFIC = np.dtype([
    ("cycle", np.uint64), ("queue", np.uint64), ("written", np.uint64), ("entry", np.void, 64)
])  # fmt: skip
"""A submission entry that the function has asked for, or a completion that it has written."""

_MESSAGE = np.dtype([("address", np.uint64), ("data", np.uint64)])
_REGION = np.dtype([("address", np.uint64), ("length", np.uint64), ("bytes", np.uint64)])
_MOST_MESSAGES = 1024


class Served(IntEnum):
    """Reasons for which :meth:`PcieLink.serve` returns."""

    LIMIT = 0
    MESSAGE = 1
    ATTENTION = 2
    QUIET = 3


class HostMessage(NamedTuple):
    """A message of the function: four bytes to an address of an interrupt controller."""

    address: int
    data: int


class PcieLink(RtlLink):
    """Front end and controller in RTL. Registers of the controller are those that firmware reaches."""

    def __init__(
        self, config: FmsConfig, sizes: PcieSizes, timing: MemoryTiming | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:  # fmt: skip
        self._sizes = sizes
        self._mapped: list[NDArray[np.uint8]] = []
        self._messages = np.zeros(_MOST_MESSAGES, _MESSAGE)
        super().__init__(config, memory_bytes, timing)
        u32, u64, i32, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32, ctypes.c_void_p
        for name, result, arguments in (
            ("access", i32, [i32, i32, u32, pointer]),
            ("serve", i32, [u64, u64]),
            ("set_vectors", None, [i32, i32]),
            ("running", i32, []),
            ("permit", None, [i32, i32]),
            ("map", None, [pointer, u64]),
            ("watch", None, [u64, u64, u64, u64]),
            ("take_messages", u64, [pointer, u64]),
            ("traffic", u64, []),
            ("take_traffic", None, [pointer]),
        ):
            self._library.declare(name, result, arguments)

    def _build(self, config: FmsConfig) -> Path:
        return build_library(config, pcie=self._sizes)

    @property
    def sizes(self) -> PcieSizes:
        return self._sizes

    def access(self, offset: int, value: int | None = None, *, firmware: bool = False) -> int:
        """Write a dword of the BAR, or of the mailbox; without a value, read it."""
        word = ctypes.c_uint32(value or 0)
        if self._library.access(firmware, value is not None, offset // 4, ctypes.byref(word)):
            raise DeviceHang(f"the access to {offset:#x} was not answered (cycle {self.cycles})")
        self._check_violations()
        return word.value

    def serve(self, most: int, quiet: int) -> Served:
        """Simulate until there is a message or work for firmware, or the port has rested `quiet` cycles."""
        reason = Served(self._library.serve(most, quiet))
        self._check_violations()
        return reason

    @property
    def running(self) -> bool:
        """Queues are in use, or a command is open."""
        return bool(self._library.running())

    def set_vectors(self, enable: bool, mask: bool) -> None:
        """MSI-X Enable and Function Mask of the configuration space."""
        self._library.set_vectors(enable, mask)

    def permit(self, reads: bool, writes: bool) -> None:
        """Whether reads of the host's memory have data, and writes and messages an effect."""
        self._library.permit(reads, writes)

    def map(self, regions: Sequence[tuple[int, memoryview]]) -> None:
        """The host's memory is these bytes at these addresses, read and written in place."""
        self._mapped = [np.frombuffer(view, np.uint8) for _, view in regions]
        table = np.zeros(len(regions), _REGION)
        for row, (address, _), view in zip(table, regions, self._mapped, strict=True):
            row["address"], row["length"], row["bytes"] = address, len(view), view.ctypes.data
        self._library.map(table.ctypes.data, len(table))

    def watch(self, queue: int, address: int, length: int, entry_bytes: int) -> None:
        """Record the entries of a queue for :meth:`take_traffic`; without a length no longer.

        entry_bytes: 64 of a submission queue, 16 of a completion queue.
        """
        self._library.watch(queue, address, length, entry_bytes)

    def take_messages(self) -> list[HostMessage]:
        """Messages since the last call."""
        found = self._messages
        count = self._library.take_messages(found.ctypes.data, len(found))
        return [HostMessage(*one) for one in found[:count].tolist()] if count else []

    def take_traffic(self) -> NDArray[np.void]:
        """Entries of watched queues since the last call; dtype :data:`QUEUE_TRAFFIC`."""
        found = np.zeros(self._library.traffic(), QUEUE_TRAFFIC)
        self._library.take_traffic(found.ctypes.data)
        return found

    def close(self) -> None:
        super().close()
        self._mapped = []
