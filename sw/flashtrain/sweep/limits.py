"""Limits of the options of a workload, beside those of `flashtrain.spec.limits`.

An option may be an integer, a number or a choice. The file has its text; `parse` gives the value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from flashtrain.spec import ConfigError
from flashtrain.spec.errors import require
from flashtrain.spec.limits import LIMITS, check_limits, limits_of

Value = int | float | str | bool | None
"""A cell of the table of results."""


@dataclass(frozen=True)
class NumberLimits:
    """Limits of a number that need not be whole; of an optional one the default may be None."""

    least: float
    most: float
    unit: str
    meaning: str
    optional: bool = False

    def check(self, name: str, value: object) -> None:
        if value is None and self.optional:
            return
        number = isinstance(value, int | float) and not isinstance(value, bool)
        require(number and self.least <= value <= self.most, name, value, f"a number: {self}")  # type: ignore[operator]

    def __str__(self) -> str:
        return f"{self.least:,g} to {self.most:,g}"


@dataclass(frozen=True)
class Choice:
    """Limits of one of several values; a file has its name."""

    values: Mapping[str, object]
    meaning: str
    unit: str = ""

    def check(self, name: str, value: object) -> None:
        require(value in self.values.values(), name, value, f"one of {self}")

    def parse(self, key: str, name: object) -> object:
        """The value called `name`; :class:`ConfigError` with the key for another one."""
        if not isinstance(name, str) or name not in self.values:
            raise ConfigError(f"{key} is {name!r}; expected one of {self}")
        return self.values[name]

    def name(self, value: object) -> str:
        return next(name for name, known in self.values.items() if known == value)

    def __str__(self) -> str:
        return ", ".join(self.values)


def number(least: float, most: float, unit: str, meaning: str, default: float | None) -> Any:
    """A dataclass field with `NumberLimits`, optional if the default is None."""
    limits = NumberLimits(least, most, unit, meaning, default is None)
    return field(default=default, metadata={LIMITS: limits})


def choice(values: Mapping[str, object], default: str, meaning: str) -> Any:
    """A dataclass field with one of `values`, by name."""
    return field(default=values[default], metadata={LIMITS: Choice(values, meaning)})


def members(kind: type[Enum]) -> dict[str, object]:
    """The members of an enumeration for `choice`, by their names in lower case."""
    return {member.name.lower(): member for member in kind}


@dataclass(frozen=True)
class Options:
    """Options of a workload: none. A workload with options derives a class of its own, with limits."""

    def __post_init__(self) -> None:
        check_limits("options", self)


def options_from(kind: type[Options], values: Mapping[str, object], prefix: str) -> Options:
    """Options of a file; :class:`ConfigError` names the key, which begins with `prefix`."""
    known = {each.name: limits for each, limits in limits_of(kind)}
    check_keys(prefix, values, known)
    parsed = {}
    for name, value in values.items():
        limits = known[name]
        parsed[name] = limits.parse(f"{prefix}{name}", value) if isinstance(limits, Choice) else value
        limits.check(f"{prefix}{name}", parsed[name])
    return kind(**parsed)


def option_columns(options: Options) -> dict[str, Value]:
    """Each option in a cell."""
    values = ((each.name, limits, getattr(options, each.name)) for each, limits in limits_of(options))
    return {
        name: limits.name(value) if isinstance(limits, Choice) else value for name, limits, value in values
    }


def check_keys(prefix: str, keys: Iterable[str], known: Iterable[str]) -> None:
    """Raise :class:`ConfigError` for a key that is not `known`."""
    known = list(known)
    for key in keys:
        if key not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise ConfigError(f"unknown key {prefix}{key}; expected {expected}")
