"""Data sheets of drives, each value with its source, as TOML files.

`sheets/` has those that come with the package. A file is

    model = "Micron 9550 MAX 12.8 TB"
    pcie = 5
    lanes = 4

    [sources]
    table = "StorageReview, Micron 9550 MAX review: table of the maker's specifications"

    [values]
    read_gb = { value = 14.0, source = "table" }

`VALUES` has the keys of `[values]`. A value without a source is refused, and so is a sheet that contradicts
itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flashtrain.reading import InputError, read_toml
from flashtrain.spec import ConfigError
from flashtrain.spec.config_file import check_keys
from flashtrain.spec.errors import require

from .pcie import MOST_PAYLOAD, PcieLink

FOLDER = Path(__file__).with_name("sheets")
KIB4 = 4096
GB = 1e9

VALUES = {
    "read_gb": "GB/s, sequential reads",
    "write_gb": "GB/s, sequential writes",
    "read_iops": "random reads of 4 KiB a second",
    "write_iops": "random writes of 4 KiB a second, in the steady state",
    "capacity_tb": "TB",
    "read_us": "µs, latency of a read of 4 KiB alone",
    "write_us": "µs, latency of a write of 4 KiB alone",
    "watts": "W, the most that it takes",
    "written_tb": "TB written until the end of its life, in random order if the source has several",
    "written_in_order_tb": "the same, written in order",
}
"""Keys of `[values]`, and their meaning. The first `NEEDED` are needed; others may be absent."""
NEEDED = 5


@dataclass(frozen=True)
class Published:
    """A value, and who published it."""

    value: float
    source: str


@dataclass(frozen=True)
class DataSheet:
    """Published values of a drive: those keys of `VALUES` that some source has."""

    name: str
    model: str
    link: PcieLink
    values: Mapping[str, Published]

    def __post_init__(self) -> None:
        for key in list(VALUES)[:NEEDED]:
            require(key in self.values, f"values.{key}", None, VALUES[key])
        for key, published in self.values.items():
            require(published.value > 0, f"values.{key}", published.value, "a number above 0")
        for way in ("read", "write"):
            rate, iops = self[f"{way}_gb"], self[f"{way}_iops"]
            require(
                iops * KIB4 <= rate * GB, f"values.{way}_iops", round(iops),
                f"at most {rate * GB / KIB4:.0f} of 4 KiB: {way}_gb is {rate:g} GB/s",
            )  # fmt: skip
            most = PcieLink(self.link.generation, self.link.lanes, MOST_PAYLOAD).bytes_per_second / GB
            require(rate <= most, f"values.{way}_gb", rate, f"at most {most:.2f}: the link is {self.link}")

    def __getitem__(self, key: str) -> float:
        return self.values[key].value

    def get(self, key: str) -> float | None:
        """The value; None if it is not published."""
        return self[key] if key in self.values else None


def load_sheet(path: Path) -> DataSheet:
    """The data sheet in a file. :class:`InputError` names the file, the key, and what was expected."""
    content = read_toml(path)
    try:
        check_keys("", content, ["model", "pcie", "lanes", "sources", "values"])
        model = content.get("model")
        require(isinstance(model, str) and model.isprintable(), "model", model, "a text")
        values = _table(content, "values")
        check_keys("values.", values, VALUES)
        sources = _table(content, "sources")
        link = PcieLink(content.get("pcie", 0), content.get("lanes", 4))
        read = {key: _published(f"values.{key}", value, sources) for key, value in values.items()}
        return DataSheet(path.stem, str(model), link, read)
    except ConfigError as error:
        raise InputError(path, str(error)) from error


def _table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = content.get(name, {})
    require(isinstance(table, dict), name, table, f"a table, [{name}]")
    return table


def _published(key: str, entry: object, sources: Mapping[str, Any]) -> Published:
    require(isinstance(entry, dict), key, entry, "a table with value and source")
    assert isinstance(entry, dict)
    check_keys(f"{key}.", entry, ["value", "source"])
    value, source = entry.get("value"), entry.get("source")
    number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12
    require(number, f"{key}.value", value, "a number above 0, below 1e12")
    assert isinstance(value, int | float)
    text = sources.get(source) if isinstance(source, str) else None
    require(isinstance(text, str) and text != "", f"{key}.source", source, "a key of [sources]")
    return Published(float(value), str(text))


SHEETS = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
"""Names of the sheets that come with the package."""


@cache
def _sheet_of_package(name: str) -> DataSheet:
    return load_sheet(FOLDER / f"{name}.toml")


def sheet_named(name: str) -> DataSheet:
    """A sheet of the package by its name, or one in a file. :class:`ConfigError` names the known ones."""
    if name in SHEETS:
        return _sheet_of_package(name)
    require(Path(name).suffix == ".toml", "data sheet", name, f"a TOML file, or one of {', '.join(SHEETS)}")
    return load_sheet(Path(name))
