"""A simulated drive on PCI Express: front end and controller in RTL."""

import ctypes
from pathlib import Path

from flashtrain.host.errors import DeviceHang
from flashtrain.sim.link.library import build_library
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.sim.link.rtl_link import MemoryTiming, RtlLink
from flashtrain.spec import FmsConfig

MEMORY_BYTES = 128 << 20
"""Of the host."""


class PcieLink(RtlLink):
    """Front end and controller in RTL. Registers of the controller are those that firmware reaches."""

    def __init__(self, config: FmsConfig, sizes: PcieSizes, timing: MemoryTiming | None = None) -> None:
        self._sizes = sizes
        super().__init__(config, MEMORY_BYTES, timing)
        u32, i32 = ctypes.c_uint32, ctypes.c_int32
        self._library.declare("access", i32, [i32, i32, u32, ctypes.c_void_p])
        self._library.declare("take_messages", ctypes.c_uint64, [])

    def _build(self, config: FmsConfig) -> Path:
        return build_library(config, pcie=self._sizes)

    def access(self, offset: int, value: int | None = None, *, firmware: bool = False) -> int:
        """Write a dword of the BAR, or of the mailbox; without a value, read it."""
        word = ctypes.c_uint32(value or 0)
        if self._library.access(firmware, value is not None, offset // 4, ctypes.byref(word)):
            raise DeviceHang(f"the access to {offset:#x} was not answered (cycle {self.cycles})")
        self._check_violations()
        return word.value

    def take_messages(self) -> int:
        """Messages since the last call."""
        return self._library.take_messages()
