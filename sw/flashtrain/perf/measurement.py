"""Results of benchmarks."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from flashtrain.spec import FlashtrainError

from .time_use import TimeUse

ROUNDING = 1e-9
"""Of a share that is exactly 1."""


class BenchmarkError(FlashtrainError):
    """A benchmark cannot be carried out on this device, or the device does not go on."""


@dataclass(frozen=True)
class Measurement:
    """`value` in `unit`, after `cycles` simulated cycles; `bound` is its physical or required limit.

    - `asked`: the required value, in words.
    - `met`: whether the value meets the requirement; `None` without one.
    - `use`: the use of the time.
    """

    value: float
    unit: str
    cycles: int
    note: str
    bound: float | None = None
    asked: str = ""
    met: bool | None = None
    use: TimeUse | None = None


class Cost(NamedTuple):
    """Cost of a measurement: process time, and bytes moved between tensor buffer and channels."""

    seconds: float
    bytes: int


@dataclass(frozen=True)
class Result:
    """A line of the table of benchmarks; see `Measurement` and `Cost`."""

    name: str
    configuration: str
    link: str
    value: float
    unit: str
    bound: float | None
    share: float | None
    asked: str
    met: bool | None
    cycles: int
    seconds: float
    bytes: int
    note: str
    use: TimeUse | None

    @classmethod
    def of(cls, name: str, configuration: str, link: str, cost: Cost, measured: Measurement) -> "Result":
        m = measured
        return cls(
            name=name,
            configuration=configuration,
            link=link,
            value=m.value,
            unit=m.unit,
            bound=m.bound,
            share=None if m.bound is None else m.value / m.bound,
            asked=m.asked,
            met=m.met,
            cycles=m.cycles,
            seconds=cost.seconds,
            bytes=cost.bytes,
            note=m.note,
            use=m.use,
        )

    @property
    def within_bound(self) -> bool:
        """A value above its bound is a mistake, of the benchmark or of the design."""
        return self.share is None or self.share <= 1 + ROUNDING

    def document(self) -> dict[str, Any]:
        return asdict(self)
