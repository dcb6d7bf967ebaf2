"""Conventional drives in TOML files: fields of `SsdConfig`, and the tables `[geometry]` and `[timing]`."""

import json
from dataclasses import fields
from pathlib import Path

from flashtrain.reading import InputError, read_toml
from flashtrain.spec import ConfigError, Geometry, NandTiming
from flashtrain.spec.config_file import check_keys, complete, field_lines, table_values

from .config import SsdConfig

_TABLES: dict[str, type] = {"geometry": Geometry, "timing": NandTiming}


def load_drive(path: Path) -> SsdConfig:
    """The drive in a file. :class:`InputError` names the file, the key, and what was expected."""
    content = read_toml(path)
    try:
        check_keys("", content, [field.name for field in fields(SsdConfig)])
        parts = {
            name: kind(**complete(kind, table_values(kind, name, content.get(name, {})), f"{name}."))
            for name, kind in _TABLES.items()
        }
        values = {"name": path.stem, **content, **parts}
        return SsdConfig(**complete(SsdConfig, values, ""))
    except ConfigError as error:
        raise InputError(path, str(error)) from error


def drive_text(config: SsdConfig) -> str:
    """A complete file, with unit and range of each key. :func:`load_drive` gives back an equal one."""
    # A string of printable characters is the same in JSON and in TOML.
    lines = [
        f"name = {json.dumps(config.name, ensure_ascii=False)}",
        f"over_provisioning = {config.over_provisioning!r}",
    ]
    lines += field_lines(config)
    for name in _TABLES:
        lines += ["", f"[{name}]", *field_lines(getattr(config, name))]
    return "\n".join(lines) + "\n"
