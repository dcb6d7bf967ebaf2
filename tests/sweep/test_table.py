"""Tables of results: both formats have the whole configuration and the values in each row."""

import csv
import sys

import pyarrow.parquet as parquet
import pytest

from flashtrain.sweep.columns import config_from
from flashtrain.sweep.errors import SweepError
from flashtrain.sweep.table import check_suffix, row_of, write_table
from tests.sweep.jobs import points_of, run

TEXT = """
presets = ["tiny"]
workloads = ["capacity", "picky"]
links = ["functional"]
product.write_sets = [2, 3]
"""


@pytest.fixture
def rows(tmp_path):
    points = points_of(tmp_path, TEXT)
    return points, [row_of(point, run(point)) for point in points]


def test_parquet_keeps_types(rows, tmp_path):
    points, rows = rows
    write_table(rows, tmp_path / "a.parquet")
    read = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert [config_from(row) for row in read] == [point.config for point in points]
    assert [row["result.capacity"] for row in read] == [196_608, None, 196_608, None]
    assert [row["result.sets"] for row in read] == [None, 2, None, None]
    assert [row["error"] for row in read] == [None] * 3 + [
        "FlashtrainError: three page sets are one too many"
    ]
    assert [row["key"] for row in read] == [point.key for point in points]
    assert {type(row["config.randomizer"]) for row in read} == {bool}


def test_csv(rows, tmp_path):
    _, rows = rows
    write_table(rows, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert [row["result.sets"] for row in read] == ["", "2", "", ""]
    assert read[0]["config.timing.tprog.ns"] == "4000.0"
    assert read[0]["config.randomizer"] == "false"
    assert list(read[0])[-3:] == ["result.capacity", "result.sets", "error"]
    assert [path.name for path in tmp_path.iterdir() if "csv" in path.name] == ["a.csv"]


def test_other_suffixes(tmp_path):
    for name in ("a.txt", "a"):
        with pytest.raises(SweepError, match=r"expected \.csv or \.parquet"):
            check_suffix(tmp_path / name)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    check_suffix(tmp_path / "a.csv")
    with pytest.raises(SweepError, match="needs pyarrow; expected the extra 'sweep'"):
        check_suffix(tmp_path / "a.parquet")
