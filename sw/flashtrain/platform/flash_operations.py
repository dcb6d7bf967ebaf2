"""Operations of the bus and the arrays of a simulated channel, from the records of the kernel."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flashtrain.platform.storage import Operation

BUS = "bus"
_ARRAY = {0: "sense", 1: "program", 2: "erase"}
"""Kinds of records (`nand.h`, `bus.cpp` of the kernel)."""
_BUS = {11: "data in", 12: "data out"}


def operations_of(records: NDArray[np.void], start: int, clock_hz: float) -> Sequence[Operation]:
    """Of records of dtype `TRACE_RECORD`; `start` is the cycle of time 0. Commands are left out."""
    return [
        Operation(
            BUS if kind in _BUS else f"die {die}",
            _BUS.get(kind) or _ARRAY[kind],
            (begin - start) / clock_hz,
            (end + 1 - start) / clock_hz,
        )
        for begin, end, kind, _, die, _ in records.tolist()
        if kind in _BUS or kind in _ARRAY
    ]
