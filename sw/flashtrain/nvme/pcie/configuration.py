"""The configuration space of a function: identity, BAR, capabilities (PCI Express Base 5.0, chapter 7)."""

import struct
from collections.abc import Callable

from flashtrain.spec.pcie import BAR_BYTES, PENDING, VECTORS

from .msix import ENABLE, FUNCTION_MASK

BYTES = 256
COMMAND, STATUS, BAR = 0x04, 0x06, 0x10
MEMORY, MASTER = 1 << 1, 1 << 2
"""Bits of the command register: the function answers accesses of its BAR, and may access memory."""

_CLASS = 0x01_08_02
"""Mass storage, non-volatile memory, NVM Express."""

_HAS_CAPABILITIES = 1 << 4
_INTERRUPTS_OFF = 1 << 10
_POWER, _MSIX, _EXPRESS = 0x40, 0x50, 0x60
"""The capabilities by their places."""

MSIX_CONTROL = _MSIX + 2
DEVICE_CONTROL = _EXPRESS + 8
FUNCTION_RESET = 1 << 15
"""Of the device control: Initiate Function Level Reset. It reads as 0."""

_POWER_STATE = 0b11
_MOST_PAYLOAD, _MOST_READ = 7 << 5, 7 << 12
_ENDPOINT_RESET = 1 << 28
_ROLE_BASED_ERRORS = 1 << 15
_LINK = 3 | 4 << 4
"""8 GT/s and four lanes. No link is simulated; hosts want one that is possible."""

VENDOR, DEVICE = 0xFFFE, 0xF1A5
"""No number of the PCI SIG is assigned to this project. FFFFh would be an absent function."""


class ConfigurationSpace:
    """256 bytes, of which the host may change those that `_writable` names.

    - on_reset: the host asks for a function level reset.
    - on_msix: the host has written the message control of MSI-X.
    """

    def __init__(self, vectors: int, on_reset: Callable[[], None], on_msix: Callable[[int], None]) -> None:
        self._vectors = vectors
        self._on_reset, self._on_msix = on_reset, on_msix
        self._data = bytearray(BYTES)
        self._writable = bytearray(BYTES)
        self.reset()

    @property
    def masters(self) -> bool:
        """Whether the function may access the host's memory."""
        return bool(self._data[COMMAND] & MASTER)

    def reset(self) -> None:
        """All values are those after power on."""
        data = self._data
        data[:] = bytes(BYTES)
        struct.pack_into("<HHHH", data, 0, VENDOR, DEVICE, 0, _HAS_CAPABILITIES)
        struct.pack_into("<I", data, 8, _CLASS << 8 | 1)
        struct.pack_into("<HH", data, 0x2C, VENDOR, DEVICE)
        data[0x34] = _POWER
        # Power management 1.2 without events; a return from D3hot is no reset.
        struct.pack_into("<BBHHH", data, _POWER, 0x01, _MSIX, 3, 1 << 3, 0)
        struct.pack_into("<BBHII", data, _MSIX, 0x11, _EXPRESS, self._vectors - 1, VECTORS, PENDING)
        struct.pack_into("<BBHIHHIHH", data, _EXPRESS, 0x10, 0, 2, _ENDPOINT_RESET | _ROLE_BASED_ERRORS,
                         2 << 12, 0, _LINK, 0, _LINK)  # fmt: skip
        writable = self._writable
        struct.pack_into("<H", writable, COMMAND, MEMORY | MASTER | _INTERRUPTS_OFF)
        struct.pack_into("<I", writable, BAR, 0xFFFF_FFFF & ~(BAR_BYTES - 1))
        writable[0x3C] = 0xFF
        writable[_POWER + 4] = _POWER_STATE
        struct.pack_into("<H", writable, MSIX_CONTROL, ENABLE | FUNCTION_MASK)
        struct.pack_into("<H", writable, DEVICE_CONTROL, _MOST_PAYLOAD | _MOST_READ | 0x1F)

    def read(self, offset: int, length: int) -> int:
        return int.from_bytes(self._data[offset : offset + length], "little")

    def write(self, offset: int, value: int, length: int) -> None:
        if offset + length > BYTES:
            return
        given = value.to_bytes(8, "little")[:length]
        for place, byte in enumerate(given, offset):
            mask = self._writable[place]
            self._data[place] = self._data[place] & ~mask | byte & mask
        if _touches(offset, length, MSIX_CONTROL):
            self._on_msix(self.read(MSIX_CONTROL, 2))
        high = DEVICE_CONTROL + 1
        if offset <= high < offset + length and given[high - offset] & FUNCTION_RESET >> 8:
            self._on_reset()


def _touches(offset: int, length: int, register: int) -> bool:
    """Whether an access reaches one of the two bytes of a register."""
    return offset < register + 2 and register < offset + length
