"""Limits of the options of a workload, beside those of `flashtrain.spec.limits`.

An option may be an integer, a number or a choice. The file has its text; `parse` gives the value.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from flashtrain.spec import ConfigError
from flashtrain.spec.errors import require
from flashtrain.spec.limits import LIMITS, check_limits, limits_of

Value = int | float | str | bool | None
"""A cell of the table of results."""


@dataclass(frozen=True)
class NumberLimits:
    """Limits of a number that need not be whole."""

    least: float
    most: float
    unit: str
    meaning: str

    def check(self, name: str, value: object) -> None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        require(number and self.least <= value <= self.most, name, value, f"a number: {self}")  # type: ignore[operator]

    def __str__(self) -> str:
        return f"{self.least:,g} to {self.most:,g}"


@dataclass(frozen=True)
class Choice:
    """Limits of a member of an enumeration; a file has its name in lower case."""

    members: type[Enum]
    meaning: str
    unit: str = ""

    def check(self, name: str, value: object) -> None:
        require(isinstance(value, self.members), name, value, f"one of {self}")

    def parse(self, name: str, value: object) -> Enum:
        """Raise :class:`ConfigError` unless `value` is the name of a member."""
        by_name = {member.name.lower(): member for member in self.members}
        if not isinstance(value, str) or value not in by_name:
            raise ConfigError(f"{name} is {value!r}; expected one of {self}")
        return by_name[value]

    def __str__(self) -> str:
        return ", ".join(member.name.lower() for member in self.members)


def number(least: float, most: float, unit: str, meaning: str, default: float) -> Any:
    """A dataclass field with `NumberLimits`."""
    return field(default=default, metadata={LIMITS: NumberLimits(least, most, unit, meaning)})


def choice(default: Enum, meaning: str) -> Any:
    """A dataclass field with the members of an enumeration."""
    return field(default=default, metadata={LIMITS: Choice(type(default), meaning)})


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
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    return {name: value.name.lower() if isinstance(value, Enum) else value for name, value in values.items()}


def check_keys(prefix: str, keys: Iterable[str], known: Iterable[str]) -> None:
    """Raise :class:`ConfigError` for a key that is not `known`."""
    known = list(known)
    for key in keys:
        if key not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise ConfigError(f"unknown key {prefix}{key}; expected {expected}")
