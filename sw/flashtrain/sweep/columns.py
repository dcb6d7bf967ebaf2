"""A configuration as cells of a row, one for each field, and back."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from flashtrain.spec import Duration, FmsConfig
from flashtrain.spec.config_file import TABLES

from .limits import Value

PREFIX = "config."


def config_columns(config: FmsConfig) -> dict[str, Value]:
    """The cells, by name: `config.write_sets`, `config.geometry.dies`, `config.timing.tr.ns`."""
    return dict(_cells(PREFIX, config))


def _cells(prefix: str, instance: Any) -> Iterator[tuple[str, Value]]:
    for each in fields(instance):
        value = getattr(instance, each.name)
        if each.name in TABLES:
            yield from _cells(f"{prefix}{each.name}.", value)
        elif isinstance(value, Duration):
            yield f"{prefix}{each.name}.ns", float(value.ns)
            yield f"{prefix}{each.name}.cycles", value.cycles
        else:
            yield f"{prefix}{each.name}", value


def config_from(cells: Mapping[str, Any]) -> FmsConfig:
    """The configuration of a row with all cells of :func:`config_columns`; others are left aside."""
    tables = {name: kind(**_values(f"{PREFIX}{name}.", kind, cells)) for name, kind in TABLES.items()}
    return FmsConfig(**_values(PREFIX, FmsConfig, cells), **tables)


def _values(prefix: str, kind: Any, cells: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for each in fields(kind):
        name = f"{prefix}{each.name}"
        if each.type is Duration:
            values[each.name] = Duration(cells[f"{name}.cycles"], cells[f"{name}.ns"])
        elif each.name not in TABLES:
            values[each.name] = cells[name]
    return values
