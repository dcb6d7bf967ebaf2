"""Configurations in TOML files (docs/configuration.md).

A file names a preset (`base`), a NAND part (`part`), or neither, and gives what differs. Its keys are the
fields of `FmsConfig`; those of `Geometry`, `NandTiming` and `Chips` stand in the tables `[geometry]`,
`[timing]` and `[chips]`.
A duration is a number of nanoseconds, or a table with `ns` and `cycles`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from flashtrain.reading import InputError, read_toml

from .chips import Chips
from .config import FmsConfig
from .errors import ConfigError
from .geometry import Geometry
from .limits import limits_of
from .parts import PARTS, NandPart
from .presets import PRESETS
from .sources import part_of
from .timing import Duration, NandTiming

BASE, PART = "base", "part"
TABLES: dict[str, type] = {"geometry": Geometry, "timing": NandTiming, "chips": Chips}
_COMMENT_COLUMN = 30


def load_config(path: str | Path) -> FmsConfig:
    """The configuration in a file. :class:`InputError` names the file, the key, and what was expected."""
    path = Path(path)
    try:
        return config_of(read_toml(path), path.stem)
    except ConfigError as error:
        raise InputError(path, str(error)) from error


def config_text(config: FmsConfig) -> str:
    """A complete file, with unit and range of each key. :func:`load_config` gives back an equal one."""
    lines = [f'name = "{config.name}"', *field_lines(config)]
    for name in TABLES:
        lines += ["", f"[{name}]", *field_lines(getattr(config, name))]
    return "\n".join(lines) + "\n"


def config_of(content: Mapping[str, Any], stem: str) -> FmsConfig:
    """The configuration that `content`, in the form of a file, describes; called `stem` without a name.

    :class:`ConfigError` names the key as it stands in a file, and what was expected.
    """
    try:
        return _config(content, stem)
    except ConfigError as error:
        # The keys of FmsConfig stand at the top of the file.
        raise ConfigError(str(error).removeprefix("config.")) from error


def _config(content: Mapping[str, Any], stem: str) -> FmsConfig:
    values = _base(content.get(BASE))
    _put(values, _part(content.get(PART)))
    check_keys("", content, [BASE, PART, *(field.name for field in fields(FmsConfig))])
    for name, kind in TABLES.items():
        values[name] = values.get(name, {}) | table_values(kind, name, content.get(name, {}))
    named = {"name": content.get("name", stem)}
    values |= {key: value for key, value in content.items() if key not in (BASE, PART, *TABLES)} | named
    parts = {name: kind(**complete(kind, values[name], f"{name}.")) for name, kind in TABLES.items()}
    config = FmsConfig(**complete(FmsConfig, values | parts, ""))
    part = _part(content.get(PART)) or part_of(config)
    if config.chips.sca and part is not None and not part.sca:
        raise ConfigError(f"chips.sca is true; expected false: part {part.name!r} does not declare it")
    if config.name in PRESETS and config != PRESETS[config.name]:
        raise ConfigError(
            f"name is {config.name!r}, a preset's; expected another one, since the file differs"
        )
    return config


def _base(name: object) -> dict[str, Any]:
    """The values of the preset called `name`, as nested dictionaries; none without a name."""
    if name is None:
        return {}
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(f"{BASE} is {name!r}; expected one of {', '.join(PRESETS)}")
    config = PRESETS[name]
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    return values | {table: _values(values[table]) for table in TABLES}


def _part(name: object) -> NandPart | None:
    if name is None:
        return None
    if not isinstance(name, str) or name not in PARTS:
        raise ConfigError(f"{PART} is {name!r}; expected one of {', '.join(PARTS)}")
    return PARTS[name]


def _put(values: dict[str, Any], part: NandPart | None) -> None:
    """Replace the die of `values` by a part: what it says of the geometry, and all timing."""
    if part is not None:
        values["geometry"] = values.get("geometry", {}) | part.geometry()
        values["timing"] = _values(part.timing)


def table_values(kind: type, name: str, table: object) -> dict[str, Any]:
    """The values of the table `[name]` of a file, for fields of `kind`; :class:`ConfigError`."""
    if not isinstance(table, dict):
        raise ConfigError(f"{name} is {table!r}; expected a table, [{name}]")
    check_keys(f"{name}.", table, [field.name for field in fields(kind)])
    return {
        key: _duration(f"{name}.{key}", value) if _is_duration(kind, key) else value
        for key, value in table.items()
    }


def _values(instance: Any) -> dict[str, Any]:
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def check_keys(prefix: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    """:class:`ConfigError` for a key that is not `known`."""
    known = list(known)
    for key in table:
        if key not in known:
            raise ConfigError(f"unknown key {prefix}{key}; expected one of {', '.join(known)}")


def complete(kind: Any, values: Mapping[str, Any], prefix: str) -> Mapping[str, Any]:
    """`values`, if each field of `kind` without a default has one."""
    for field in fields(kind):
        if field.name not in values and field.default is MISSING:
            raise ConfigError(f"{prefix}{field.name} is missing; expected it, or a {BASE}")
    return values


def _is_duration(kind: type, key: str) -> bool:
    return any(field.name == key and field.type is Duration for field in fields(kind))


def _duration(name: str, value: object) -> Duration:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Duration(1, value)
    if not isinstance(value, dict):
        raise ConfigError(f"{name} is {value!r}; expected nanoseconds, or a table with ns and cycles")
    check_keys(f"{name}.", value, Duration._fields)
    return Duration(value.get("cycles", 1), value.get("ns", 0))


def field_lines(instance: Any) -> Iterable[str]:
    """A line for each field of `instance` that has limits, which stand behind it."""
    for field, limits in limits_of(instance):
        line = f"{field.name} = {_literal(getattr(instance, field.name))}"
        unit = f"{limits.unit}, " if limits.unit else ""
        yield f"{line:{_COMMENT_COLUMN}}# {limits.meaning} ({unit}{limits})"


def _literal(value: object) -> str:
    if isinstance(value, Duration):
        if value.cycles == 1:
            return repr(value.ns)
        return f"{{ ns = {value.ns!r}, cycles = {value.cycles} }}"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
