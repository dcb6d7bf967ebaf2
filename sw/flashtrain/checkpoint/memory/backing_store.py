"""The storage to which the memory of jobs is freed."""

from dataclasses import dataclass
from math import isfinite

from flashtrain.checkpoint.memory.errors import JobError


@dataclass(frozen=True)
class BackingStore:
    """Rates of a storage, and what its wear follows from.

    Members
    -------
    write_bytes_per_second, read_bytes_per_second: of large sequential transfers.
    fault_bytes_per_second: of page faults, which read 4 KiB at a time.
    full_duplex: writes and reads at the same time have their full rates. Otherwise they take turns.
    capacity_bytes, write_amplification: a write of `capacity_bytes` is so many P/E cycles of all cells.
    state_on_dies: weights and optimizer state live on the dies, which take the optimizer's steps. A job
        then holds weights in DRAM and no optimizer state; a checkpoint is a pin, and writes nothing.
    """

    name: str
    write_bytes_per_second: float
    read_bytes_per_second: float
    fault_bytes_per_second: float
    capacity_bytes: float
    write_amplification: float = 1.0
    full_duplex: bool = False
    state_on_dies: bool = False

    def __post_init__(self) -> None:
        for name in (
            "write_bytes_per_second", "read_bytes_per_second", "fault_bytes_per_second", "capacity_bytes",
        ):  # fmt: skip
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise JobError(f"{self.name}: {name} is {getattr(self, name)}; expected a number above 0")
        if not (isfinite(self.write_amplification) and self.write_amplification >= 1):
            raise JobError(
                f"{self.name}: write_amplification is {self.write_amplification}; expected 1 or more"
            )

    def pe_cycles(self, written_bytes: float) -> float:
        """P/E cycles of the whole device that so many written bytes use."""
        return written_bytes * self.write_amplification / self.capacity_bytes
