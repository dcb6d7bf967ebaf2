"""Checks of arguments of the host's methods: an error names the argument, its value and what was expected."""

import reprlib
from collections.abc import Callable, Iterable
from enum import Enum
from types import UnionType
from typing import Any, TypeVar

import numpy as np

from .errors import ArgumentError

T = TypeVar("T")
EnumT = TypeVar("EnumT", bound=Enum)

MOST_SECONDS = 1 << 32
"""136 years: the range of register TIME."""
_MOST = (1 << 63) - 1


def require_argument(condition: bool, name: str, value: object, expected: str) -> None:
    """Raise :class:`ArgumentError` unless `condition` holds."""
    if not condition:
        raise ArgumentError(f"{name} is {reprlib.repr(value)}; expected {expected}")


def whole(name: str, value: Any, least: int = 0, most: int = _MOST) -> int:
    """The argument as an integer from `least` to `most`."""
    end = "" if most == _MOST else f" to {most}"
    integer = int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else least - 1
    require_argument(least <= integer <= most, name, value, f"an integer from {least}{end}")
    return integer


def seconds_of(name: str, value: Any) -> float:
    """The argument as a length of time."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    seconds = float(value) if is_number and value <= MOST_SECONDS else -1.0
    require_argument(seconds >= 0, name, value, f"seconds from 0 to {MOST_SECONDS}")
    return seconds


def instance(kind: type[T] | UnionType, name: str, value: Any, expected: str) -> T:
    """The argument, which has to be of a type."""
    require_argument(isinstance(value, kind), name, value, expected)
    return value


def truth(name: str, value: Any) -> bool:
    """The argument as True or False."""
    return instance(bool, name, value, "True or False")


def member(kind: type[EnumT], name: str, value: Any) -> EnumT:
    """The argument as a member of an enumeration."""
    known = isinstance(value, kind) or (
        isinstance(value, int | np.integer)
        and not isinstance(value, bool)
        and any(value == one.value for one in kind)
    )
    names = ", ".join(f"{kind.__name__}.{one.name}" for one in kind)
    require_argument(known, name, value, f"one of {names}")
    return kind(value)


def listed(name: str, values: Any, expected: str) -> list[Any]:
    """The items of an argument that is no text."""
    iterable = isinstance(values, Iterable) and not isinstance(values, str | bytes | bytearray | np.ndarray)
    require_argument(iterable, name, values, expected)
    return list(values)


def function(name: str, value: Any, expected: str) -> Callable[..., Any]:
    """The argument, which has to be callable."""
    require_argument(callable(value), name, value, expected)
    return value
