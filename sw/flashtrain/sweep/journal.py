"""The journal of a sweep: an outcome on each line, on the disk before the next point counts as complete."""

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Self

from .errors import JournalError
from .point import Outcome

HEADER = json.dumps({"format": "flashtrain-sweep-journal", "version": 1}).encode() + b"\n"


class Journal:
    """The outcomes in the file at `path`, by key of their points, and those that are added.

    A process that is killed leaves at most an incomplete last line, which is cut off. Use it in a `with`
    statement; it is locked meanwhile. `fresh` drops the outcomes of the file. Raises `JournalError`.
    """

    def __init__(self, path: Path, fresh: bool = False) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "ab+")
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
        """On the disk when this returns. An outcome for a key that is there already is dropped."""
        if outcome.key not in self._outcomes:
            self._append(json.dumps(asdict(outcome)).encode() + b"\n")
            self._outcomes[outcome.key] = outcome

    def _append(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(f"{self.path}: another sweep writes this journal") from error

    def _read(self) -> dict[str, Outcome]:
        self._file.seek(0)
        content = self._file.read()
        if not content.startswith(HEADER) and not HEADER.startswith(content):
            raise JournalError(f"{self.path}: expected a journal of flashtrain sweep, or no file")
        whole = content.rfind(b"\n") + 1
        self._file.truncate(whole)
        outcomes: dict[str, Outcome] = {}
        for number, line in enumerate(content[:whole].splitlines()[1:], 2):
            try:
                outcome = Outcome(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise JournalError(f"{self.path}:{number}: expected an outcome of a point") from error
            outcomes.setdefault(outcome.key, outcome)
        return outcomes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _sync_folder(folder: Path) -> None:
    """The name of a new file is on the disk only when its folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
