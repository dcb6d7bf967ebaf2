"""An image that is looked at: what is written to it stays in memory."""

import os
from pathlib import Path

from flashtrain.spec import Geometry
from flashtrain.spec.image import UNIT

from .flash_image import FlashImage


class ImageView(FlashImage):
    """An image whose file is only read; units of it that are written are copied to memory first.

    So a device can be recovered from it, which erases blocks and appends to the journal, and the file stays
    as it is. A Link that hands the file itself to others, as the RTL Link does, cannot use a view.
    """

    def __init__(self, path: Path, descriptor: int, geometry: Geometry, serial: bytes) -> None:
        self._written: dict[int, bytearray] = {}  # by the number of the unit
        super().__init__(path, descriptor, geometry, serial, new=False)

    def close(self) -> None:
        """Release the lock, and forget what was written; once is enough."""
        if self._open:
            self._open = False
            self._written.clear()
            os.close(self.descriptor)

    def _read(self, at: int, size: int) -> bytes:
        raw = super()._read(at, size)
        units = range(at // UNIT, -(-(at + size) // UNIT))
        if self._written.keys().isdisjoint(units):
            return raw
        merged = bytearray(raw)
        for unit in self._written.keys() & units:
            begin, end = max(at, unit * UNIT), min(at + size, (unit + 1) * UNIT)
            merged[begin - at : end - at] = self._written[unit][begin - unit * UNIT : end - unit * UNIT]
        return bytes(merged)

    def _write(self, at: int, raw: bytes | memoryview) -> None:
        for unit in range(at // UNIT, -(-(at + len(raw)) // UNIT)):
            if unit not in self._written:
                self._written[unit] = bytearray(super()._read(unit * UNIT, UNIT))
            begin, end = max(at, unit * UNIT), min(at + len(raw), (unit + 1) * UNIT)
            self._written[unit][begin - unit * UNIT : end - unit * UNIT] = raw[begin - at : end - at]

    def _free(self, at: int, size: int) -> None:
        """Nothing: records say that these cells are erased."""
