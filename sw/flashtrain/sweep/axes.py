"""Axes of a sweep: lists of values, each alone (a product) or several together (a zip)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from flashtrain.spec import ConfigError

Setting = Mapping[str, Any]
"""Values by key."""

Axis = Sequence[Setting]
"""The settings that an axis takes in turn."""

MOST_POINTS = 100_000


def product_axes(prefix: str, lists: Mapping[str, object]) -> list[Axis]:
    """An axis for each key; :class:`ConfigError` unless each value is a list with something in it."""
    return [[{key: value} for value in _listed(f"{prefix}{key}", lists[key])] for key in lists]


def zip_axis(prefix: str, lists: Mapping[str, object]) -> Axis:
    """One axis on which all keys take their values together; the lists are of one length."""
    columns = {key: _listed(f"{prefix}{key}", value) for key, value in lists.items()}
    if not columns:
        raise ConfigError(f"{prefix.rstrip('.')} is empty; expected lists of values")
    first, count = next((key, len(values)) for key, values in columns.items())
    for key, values in columns.items():
        if len(values) != count:
            raise ConfigError(
                f"{prefix}{key} has {len(values)} values; expected {count}, as many as {prefix}{first}"
            )
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def settings(axes: Sequence[Axis]) -> Iterator[Setting]:
    """Every combination of the axes, the last axis first. :class:`ConfigError` if a key is on two of them."""
    seen: set[str] = set()
    for axis in axes:
        for key in axis[0]:
            if key in seen:
                raise ConfigError(f"{key} is swept twice; expected it in product or in one zip")
            seen.add(key)
    if (count := prod(len(axis) for axis in axes)) > MOST_POINTS:
        raise ConfigError(f"the lists have {count:,} combinations; expected at most {MOST_POINTS:,}")
    for chosen in product(*axes):
        yield {key: value for setting in chosen for key, value in setting.items()}


def _listed(key: str, value: object) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{key} is {value!r}; expected a list of values")
    return value
