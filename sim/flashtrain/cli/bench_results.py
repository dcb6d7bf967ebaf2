"""The file of results: a run of some benchmarks replaces their results, and keeps all others."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flashtrain.perf.measurement import Result
from flashtrain.reading import InputError, read_json
from flashtrain.writing import write_text

from .bench_table import TABLE, Row

Key = tuple[str, str, str]
"""Name of the benchmark, configuration, link."""

_OLD_NAMES: dict[str, str] = {"preset": "configuration", "clocks": "cycles"}
_EXPECTED = "expected results of flashtrain bench"


class ResultsFile:
    """The results in `path`, if there are any, and those that are added; in the order of `rows`."""

    def __init__(self, path: Path, rows: Iterable[Row] = TABLE) -> None:
        self.path = path
        self._places = {row: number for number, row in enumerate(rows)}
        self._by_key = {_key(document): document for document in _read(path)}
        self._write()  # fails now, and not after the first benchmark

    def add(self, result: Result) -> None:
        """Written at once: the whole table takes a while."""
        document = result.document()
        self._by_key[_key(document)] = document
        self._write()

    def _write(self) -> None:
        last = len(self._places)
        keys = sorted(self._by_key, key=lambda key: self._places.get(Row(key[0], key[1]), last))
        text = json.dumps([self._by_key[key] for key in keys], indent=2) + "\n"
        write_text(self.path, text)


def _read(path: Path) -> Iterable[dict[str, Any]]:
    if not path.exists():
        return []
    documents = read_json(path)
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise InputError(path, f"{_EXPECTED}: a list of objects")
    named: list[dict[str, Any]] = [
        {_OLD_NAMES.get(str(key), str(key)): value for key, value in one.items()} for one in documents
    ]
    for one in named:
        for name in ("name", "configuration", "link"):
            if not isinstance(one.get(name), str):
                raise InputError(path, f"{_EXPECTED}: one has no text {name}")
    return named


def _key(document: dict[str, Any]) -> Key:
    return document["name"], document["configuration"], document["link"]
