"""What a benchmark gives."""

from dataclasses import asdict, dataclass
from typing import Any

from flashtrain.spec import FlashtrainError


class BenchmarkError(FlashtrainError):
    """A benchmark cannot be carried out on this device, or the device does not go on."""


@dataclass(frozen=True)
class Measurement:
    """`value` in `unit`; `bound` is what it cannot, or must not, exceed. `clocks` were simulated for it."""

    value: float
    unit: str
    clocks: int
    note: str
    bound: float | None = None


@dataclass(frozen=True)
class Result:
    """A line of the table of benchmarks. `seconds` is the process time that it took."""

    name: str
    preset: str
    link: str
    value: float
    unit: str
    bound: float | None
    share: float | None
    clocks: int
    seconds: float
    note: str

    @classmethod
    def of(cls, name: str, preset: str, link: str, seconds: float, measured: Measurement) -> "Result":
        share = None if measured.bound is None else measured.value / measured.bound
        m = measured
        return cls(name, preset, link, m.value, m.unit, m.bound, share, m.clocks, seconds, m.note)

    @property
    def within_bound(self) -> bool:
        """A value above its bound is a mistake, of the benchmark or of the design."""
        return self.share is None or self.share <= 1

    def document(self) -> dict[str, Any]:
        return asdict(self)
