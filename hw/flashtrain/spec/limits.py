"""Limits of the fields of a configuration, declared beside each field and checked when it is made."""

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from .errors import require, require_power_of_two, require_range

LIMITS = "limits"
"""Key of a field's limits in its metadata."""


@dataclass(frozen=True)
class Limits:
    """Allowed values of an integer field: `least` to `most`, or only the powers of two among them.

    unit: of the value; meaning: of the field, in a few words for readers.
    """

    least: int
    most: int
    unit: str
    meaning: str
    power_of_two: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise :class:`ConfigError` unless `value` is within the limits; `name` is the whole key."""
        check = require_power_of_two if self.power_of_two else require_range
        check(name, value, self.least, self.most)

    def __str__(self) -> str:
        kind = "power of two, " if self.power_of_two else ""
        return f"{kind}{self.least:,} to {self.most:,}"


@dataclass(frozen=True)
class Switch:
    """Limits of a field that is true or false."""

    meaning: str
    unit: str = ""

    def check(self, name: str, value: object) -> None:
        require(isinstance(value, bool), name, value, "true or false")

    def __str__(self) -> str:
        return "true or false"


def integer(
    least: int, most: int, unit: str, meaning: str, default: Any = MISSING, power_of_two: bool = False
) -> Any:
    """A dataclass field with these `Limits`."""
    return field(default=default, metadata={LIMITS: Limits(least, most, unit, meaning, power_of_two)})


def switch(meaning: str, default: bool) -> Any:
    """A dataclass field that is true or false."""
    return field(default=default, metadata={LIMITS: Switch(meaning)})


def limits_of(kind: Any) -> Iterator[tuple[Field[Any], Any]]:
    """The fields of a dataclass that have declared limits, each with them."""
    for each in fields(kind):
        if LIMITS in each.metadata:
            yield each, each.metadata[LIMITS]


def check_limits(prefix: str, instance: Any) -> None:
    """Check each field of `instance` that has limits; its key is `prefix`, a dot, and the field's name."""
    for each, limits in limits_of(instance):
        limits.check(f"{prefix}.{each.name}", getattr(instance, each.name))
