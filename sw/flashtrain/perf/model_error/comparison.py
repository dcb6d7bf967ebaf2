"""Points of one Link beside those of a reference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flashtrain.perf.measurement import BenchmarkError, Measurement

from .point import Observation, Point, Quantity, Role, Run


@dataclass(frozen=True)
class Compared:
    """A point: its value on the reference Link, and its value on the other."""

    point: Point
    reference: float
    value: float

    @property
    def error(self) -> float:
        """As a share of the reference; below 0 if the value is too small."""
        return self.value / self.reference - 1

    @property
    def met(self) -> bool:
        """Whether the error is within the quantity's tolerance."""
        return abs(self.error) <= self.point.quantity.tolerance

    def document(self) -> dict[str, Any]:
        run, quantity = self.point.run, self.point.quantity
        return {
            "point": self.point.name,
            "configuration": run.configuration,
            "workload": repr(run.workload),
            "quantity": quantity.title,
            "unit": quantity.unit,
            "role": run.role.value,
            "reference": self.reference,
            "value": self.value,
            "error": self.error,
            "tolerance": quantity.tolerance,
            "met": self.met,
        }


def compare(run: Run, reference: Observation, other: Observation) -> tuple[Compared, ...]:
    """The points of `run`; :class:`BenchmarkError` if the two do not have the quantities of its workload."""
    for observation in (reference, other):
        if set(observation.values) != set(run.workload.quantities):
            found = ", ".join(quantity.title for quantity in observation.values)
            expected = ", ".join(quantity.title for quantity in run.workload.quantities)
            raise BenchmarkError(f"{run.name} gave {found}; expected {expected}")
    return tuple(
        Compared(point, reference.values[point.quantity], other.values[point.quantity])
        for point in run.points
    )


def worst(points: Iterable[Compared]) -> Compared | None:
    """The point with the largest error in either direction; None without points."""
    return max(points, key=lambda each: abs(each.error), default=None)


def measurement(points: Sequence[Compared], cycles: int, names: tuple[str, str]) -> Measurement:
    """The row of results: 100 % less the worst error of a bandwidth, with the reference as its bound.

    names: those of the reference Link and of the other. :class:`BenchmarkError` without points.
    """
    if not points:
        raise BenchmarkError("no points to compare")
    bandwidths = worst(each for each in points if each.point.quantity.is_bandwidth)
    missed = [each for each in points if not each.met]
    note = [
        f"{len(points)} points of {names[1]} against {names[0]},"
        f" {sum(each.point.run.role is Role.HELD_OUT for each in points)} of them held out",
        *(_worst_of(quantity, points) for quantity in Quantity),
    ]
    if missed:
        note.append(f"missed: {', '.join(f'{each.point.name} {each.error:+.2%}' for each in missed)}")
    return Measurement(
        value=100 * (1 - (abs(bandwidths.error) if bandwidths else 0.0)),
        unit="%",
        bound=100,
        cycles=cycles,
        asked=", ".join(f"{quantity.title} {quantity.tolerance:.0%}" for quantity in Quantity),
        met=not missed,
        note="; ".join(filter(None, note)),
    )


def _worst_of(quantity: Quantity, points: Sequence[Compared]) -> str:
    found = worst(each for each in points if each.point.quantity is quantity)
    return "" if found is None else f"worst {quantity.title} {found.error:+.3%} ({found.point.name})"
