"""MSI-X: the table of vectors, the pending bits, and messages (PCI Express Base 5.0, section 6.1.4)."""

import struct
from collections.abc import Callable

from flashtrain.spec.pcie import Vector

ENABLE, FUNCTION_MASK = 1 << 15, 1 << 14
"""Bits of the message control in the capability."""

_CONTROL, _MASKED = Vector.masked.low // 8, 1
_ENTRY = struct.Struct("<QII")


class Msix:
    """The vectors of a function. `send` takes the address and the data of a message."""

    def __init__(self, vectors: int, send: Callable[[int, int], None]) -> None:
        self.vectors = vectors
        self._send = send
        self._table = bytearray(vectors * Vector.BYTES)
        self._pending: set[int] = set()
        self._enabled = False
        self._all_masked = False
        self.reset()

    def reset(self) -> None:
        """All vectors are masked, none is pending."""
        self._table[:] = _ENTRY.pack(0, 0, _MASKED) * self.vectors
        self._pending.clear()
        self._enabled = self._all_masked = False

    def control(self, value: int) -> None:
        """The host has written the message control."""
        self._enabled, self._all_masked = bool(value & ENABLE), bool(value & FUNCTION_MASK)
        self._send_pending()

    def fire(self, vector: int) -> None:
        """Send the message of a vector, or remember it while the vector is masked."""
        if not self._enabled:
            return
        address, data, control = _ENTRY.unpack_from(self._table, vector * Vector.BYTES)
        if self._all_masked or control & _MASKED:
            self._pending.add(vector)
        else:
            self._send(address, data)

    def read_table(self, offset: int) -> int:
        """A dword of the table; 0 behind its end."""
        return int.from_bytes(self._table[offset : offset + 4], "little")

    def write_table(self, offset: int, value: int) -> None:
        if offset + 4 <= len(self._table):
            if offset % Vector.BYTES == _CONTROL:
                value &= _MASKED  # the other bits are reserved
            self._table[offset : offset + 4] = value.to_bytes(4, "little")
            self._send_pending()

    def read_pending(self, offset: int) -> int:
        """A dword of the pending bits."""
        return sum(1 << vector for vector in self._pending) >> 8 * offset & 0xFFFF_FFFF

    def _send_pending(self) -> None:
        if self._pending and self._enabled and not self._all_masked:
            pending, self._pending = self._pending, set()
            for vector in sorted(pending):
                self.fire(vector)
