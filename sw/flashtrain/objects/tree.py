"""Objects and folders of a state, with the errors that file systems have."""

import errno
import os

from .state import Entry, State
from .url import parent_of


def missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def exists_already(path: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def is_folder(path: str) -> IsADirectoryError:
    return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)


def no_folder(path: str) -> NotADirectoryError:
    return NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


class Tree:
    """A view of a state. `streams` are the folders that always exist, beside the root."""

    def __init__(self, state: State, streams: list[str]) -> None:
        self._state = state
        self._streams = streams

    def folder(self, path: str) -> bool:
        """Whether there is a folder of this path."""
        if not path or path in self._streams:
            return True
        entry = self._state.entries.get(path)
        return bool(self._state.folders.inside(path)) if entry is None else entry.size is None

    def find(self, path: str) -> Entry:
        """The object of this path."""
        if self.folder(path):
            raise is_folder(path)
        if path not in self._state.entries:
            raise missing(path)
        return self._state.entries[path]

    def inside(self, path: str) -> list[str]:
        """The paths in a folder."""
        if not self.folder(path):
            raise no_folder(path) if path in self._state.entries else missing(path)
        return sorted(self._streams) if not path else self._state.folders.inside(path)

    def check_new(self, path: str, new: set[str] | frozenset[str] = frozenset()) -> None:
        """Raise what forbids an entry of this path, beside other `new` ones."""
        parent = parent_of(path)
        while parent and parent not in self._streams:
            entry = self._state.entries.get(parent)
            if parent in new or (entry is not None and entry.size is not None):
                raise no_folder(parent)
            parent = parent_of(parent)
