"""Counts of what devices had after a loss of power."""

from dataclasses import asdict, dataclass


@dataclass
class Survival:
    """Counts of one judged device, or of many.

    - `again`: power failures within recoveries.
    - `tensors`, `bytes`: the compared data.
    - `checkpoints`: the compared checkpoints.
    - `before`, `after`: devices with the state before or after the step under way.
    - `none`: devices without a state, because none was stored yet.
    - `recovery_cycles`: cycles of all recoveries that were not cut.
    - `torn`: pages with an interrupted program.
    - `slightly`: torn pages that lack few zeros.
    - `half_erased`: blocks with data and an interrupted erase.
    - `blocks`: logical blocks below the write pointers of append streams.
    - `refused`: blocks of these whose read ended with an error.
    - `spoilt`: blocks of these that were wrong without an error, on a device without a code.
    """

    again: int = 0
    tensors: int = 0
    bytes: int = 0
    checkpoints: int = 0
    before: int = 0
    after: int = 0
    none: int = 0
    recovery_cycles: int = 0
    torn: int = 0
    slightly: int = 0
    half_erased: int = 0
    blocks: int = 0
    refused: int = 0
    spoilt: int = 0

    @property
    def compared(self) -> int:
        """Tensors, checkpoints and states that were compared: without any the failures have shown nothing."""
        return self.tensors + self.checkpoints + self.before + self.after

    def add(self, other: "Survival") -> None:
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)
