"""The table of results: a row for each point, as CSV or Parquet by the suffix of the file."""

import csv
import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from flashtrain.writing import replacing

from .errors import SweepError
from .limits import Value
from .point import Outcome, Point

CSV, PARQUET = ".csv", ".parquet"

Row = dict[str, Value]


def row_of(point: Point, outcome: Outcome) -> Row:
    """The key, everything that the point is made of, and the measured values behind it."""
    return {
        "key": point.key,
        "base": point.base,
        **point.columns,
        "source": outcome.source,
        "seconds": outcome.seconds,
        **{f"result.{name}": value for name, value in outcome.result.items()},
        "error": outcome.error,
    }


def check_suffix(path: Path) -> None:
    """Raise `SweepError` unless a table can be written to `path`: pyarrow is needed for Parquet."""
    if path.suffix not in (CSV, PARQUET):
        raise SweepError(f"{path}: the suffix is {path.suffix!r}; expected {CSV} or {PARQUET}")
    if path.suffix == PARQUET:
        _pyarrow(path)


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Replace the file at `path` by a table with every column that a row has; other cells are empty."""
    columns = _columns(rows)
    with replacing(path, binary=path.suffix == PARQUET) as file:
        if path.suffix == PARQUET:
            _write_parquet(rows, columns, file)
        else:
            _write_csv(rows, columns, file)


def _columns(rows: Iterable[Row]) -> list[str]:
    """The columns, in the order of the first row that has each; results follow all that describes a point."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return sorted(columns, key=lambda name: name.startswith("result.") + 2 * (name == "error"))


def _write_csv(rows: Sequence[Row], columns: Sequence[str], file: IO[str]) -> None:
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(value: Value) -> Value:
    """Booleans as TOML and JSON have them."""
    return str(value).lower() if isinstance(value, bool) else value


def _write_parquet(rows: Sequence[Row], columns: Sequence[str], file: IO[bytes]) -> None:
    pyarrow = importlib.import_module("pyarrow")
    cells: Mapping[str, list[Value]] = {name: [row.get(name) for row in rows] for name in columns}
    importlib.import_module("pyarrow.parquet").write_table(pyarrow.table(cells), file)


def _pyarrow(path: Path) -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise SweepError(
            f"{path}: {PARQUET} needs pyarrow; expected the extra 'sweep' (pip install 'flashtrain[sweep]'),"
            f" or a file with {CSV}"
        ) from error
