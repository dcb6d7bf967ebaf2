"""Configurations of a sweep: a preset or a file, with some of its fields replaced."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from flashtrain.reading import read_toml
from flashtrain.spec import PRESETS, ConfigError, FmsConfig
from flashtrain.spec.config_file import BASE, PART, TABLES, config_of, load_config

from .axes import Setting

_NAME = "name"


@dataclass(frozen=True)
class Base:
    """A configuration whose fields are replaced.

    - `label`: the preset or file, as the sweep file names it.
    - `content`: its keys, in the form of a configuration file.
    """

    label: str
    content: Mapping[str, Any]
    config: FmsConfig

    @classmethod
    def of_preset(cls, name: str) -> "Base":
        if name not in PRESETS:
            raise ConfigError(f"no preset {name!r}; expected some of {', '.join(PRESETS)}")
        return cls(name, {BASE: name}, PRESETS[name])

    @classmethod
    def of_file(cls, label: str, folder: Path) -> "Base":
        """The file `label`, which is below `folder` unless its path is absolute."""
        path = folder / label
        return cls(label, read_toml(path), load_config(path))

    def with_fields(self, setting: Setting) -> FmsConfig:
        """The configuration with the values of `setting`, by `table.key` or `key`.

        Its name has the keys and values behind that of the base, unless nothing differs.
        """
        content = {key: dict(value) if key in TABLES else value for key, value in self.content.items()}
        for key, value in setting.items():
            table, _, name = key.rpartition(".")
            (content.setdefault(table, {}) if table else content)[name] = value
        words = "".join(f"-{key.rpartition('.')[2]}{_word(value)}" for key, value in setting.items())
        config = config_of({**content, _NAME: f"{self.config.name}{words}"}, "")
        return self.config if replace(config, name=self.config.name) == self.config else config


def swept_keys(prefix: str, table: Mapping[str, Any]) -> dict[str, object]:
    """The lists of a table of a sweep file, by `table.key` or `key`; :class:`ConfigError` for other keys."""
    return dict(_swept(prefix, table))


def _swept(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    known = [PART, *(each.name for each in fields(FmsConfig) if each.name != _NAME)]
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f"unknown key {prefix}{key}; expected one of {', '.join(known)}")
        if key not in TABLES:
            yield key, value
            continue
        if not isinstance(value, dict):
            raise ConfigError(f"{prefix}{key} is {value!r}; expected a table of its fields")
        inner = [each.name for each in fields(TABLES[key])]
        for name in value:
            if name not in inner:
                raise ConfigError(f"unknown key {prefix}{key}.{name}; expected one of {', '.join(inner)}")
            yield f"{key}.{name}", value[name]


def _word(value: object) -> str:
    """A part of the name of a configuration, which has letters, digits, '_', '-' and '.'."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", str(value)).strip("-")
