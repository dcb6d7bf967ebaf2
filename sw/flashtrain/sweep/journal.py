"""The journal of a sweep: an outcome on each line, on the disk before the next point counts as complete."""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Self

from flashtrain.reading import InputError, Node, json_value, read_lines
from flashtrain.reading.errors import ContentError
from flashtrain.writing import OutputError, appended_file

from .errors import JournalError
from .limits import Value
from .point import Outcome

HEADER = json.dumps({"format": "flashtrain-sweep-journal", "version": 1}).encode() + b"\n"


class Journal:
    """The outcomes in the file at `path`, by key of their points, and those that are added.

    A process that is killed leaves at most an incomplete last line, which is cut off. Use it in a `with`
    statement; it is locked meanwhile. `fresh` drops the outcomes of the file. Raises `InputError` for another
    file, `OutputError` where none can be, and `JournalError` if another sweep writes it.
    """

    def __init__(self, path: Path, fresh: bool = False) -> None:
        self.path = path
        self._file = appended_file(path)
        try:
            self._lock()
            self._outcomes = self._read()
            if fresh:
                self._file.truncate(0)
                self._outcomes = {}
            if self._file.seek(0, os.SEEK_END) == 0:
                self._append(HEADER)
                _sync_folder(path.parent)
        except BaseException:
            self._file.close()
            raise

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        return self._outcomes

    def add(self, outcome: Outcome) -> None:
        """Add an outcome, which is on the disk when this returns, unless its key has one already."""
        if outcome.key not in self._outcomes:
            self._append(json.dumps(asdict(outcome)).encode() + b"\n")
            self._outcomes[outcome.key] = outcome

    def _append(self, line: bytes) -> None:
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError.of(self.path, error) from error

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(f"{self.path}: another sweep writes this journal") from error

    def _read(self) -> dict[str, Outcome]:
        """The outcomes; an incomplete last line is cut off."""
        self._file.seek(0)
        if not HEADER.startswith(self._file.read(len(HEADER))):  # a compressed one is no file to append to
            raise InputError(self.path, "expected a journal of flashtrain sweep, or no file")
        outcomes: dict[str, Outcome] = {}
        whole = 0
        for number, line in read_lines(self.path):
            if not line.endswith("\n"):
                break
            whole += len(line.encode())
            if number > 1:
                outcome = self._outcome(number, line)
                outcomes.setdefault(outcome.key, outcome)
        self._file.truncate(whole)
        return outcomes

    def _outcome(self, number: int, line: str) -> Outcome:
        try:
            return _parsed(Node(self.path, "", json_value(line)))
        except (ContentError, InputError) as error:
            raise InputError(self.path, "expected an outcome of a point", number) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _parsed(line: Node) -> Outcome:
    key, source, seconds, result, error = line.keys("key", "source", "seconds", "result", "error")
    values = result.members(_value)
    reason = None if error.value is None else error.text()
    return Outcome(key.text(), source.text(), seconds.number(), values, reason)


def _value(node: Node) -> Value:
    if isinstance(node.value, dict | list):
        raise node.fail("a value of a cell")
    return node.value


def _sync_folder(folder: Path) -> None:
    """The name of a new file is on the disk only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
