"""The cache of the user: what was compiled once serves all folders and all virtual environments.

An entry is a folder `KIND/NAME-KEY` with a record, `entry.json`. The key is made of all that the content
depends on, and of no path. The last step of a build renames the record to its place. A folder without one is
left of a build that was cut short.
"""

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from flashtrain.native.cache_record import Record
from flashtrain.native.entry_locks import EntryLocks
from flashtrain.reading import InputError, read_text
from flashtrain.reading.ownership import make_private, require_own, users_caches, withdraw_write
from flashtrain.spec.errors import FlashtrainError, ToolError

GIB = 1 << 30
DEFAULT_LIMIT = 4 * GIB

_RECORD = "entry.json"
_LIMIT = "limit"
_LOCKS = "locks"
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# A cache of flashtrain; programs for backups know the line above (https://bford.info/cachedir/).
"""
_SECONDS_OF_A_LOG = 86_400
"""A failed build keeps its log for a day."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_LEAST_FREE = 1 << 20
"""Bytes on a disk: with fewer, it is its size that a compiler has failed by."""


class CacheError(FlashtrainError):
    """The folder of the cache cannot be used; the message names it and what to do."""


@dataclass(frozen=True)
class Entry:
    """An entry of the cache as it is now.

    path: `KIND/NAME-KEY`. used: when it was last used, in seconds since 1970.
    """

    path: str
    record: Record
    used: float

    @property
    def kind(self) -> str:
        return self.path.partition("/")[0]


class UserCache:
    """The cache in `folder`, which need not exist.

    Its content is loaded and run: `ForeignFile` is raised if anyone but this user and root can write to it.

    Entries that a process has asked for stay until it ends. Of the others, those go first that were not used
    for the longest time, as soon as all together exceed the limit.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self._locks = EntryLocks(self.folder / _LOCKS)
        self._held: set[str] = set()
        self._mutex = RLock()
        self._has_grown = False

    def build(
        self, kind: str, name: str, key: str, what: str, build: Callable[[Path], None], work: int = 0
    ) -> Path:
        """The folder of an entry. `build` fills it if there is none: in one process, while others wait.

        what, work: see `Record`. Raises `CacheError` if the folder of the cache cannot be written.
        """
        path = f"{kind}/{name}-{key}"

        def waiting() -> None:
            _say(f"another process builds {what}: waiting")

        with self._explained():
            self._make_folder()
            (self.folder / kind).mkdir(0o700, exist_ok=True)
            while not self.hold(path):
                with self._locks.alone(_build_lock(path), waiting):
                    damage = self._damage(path)
                    if damage:
                        _say(f"{path} in the cache is damaged: {damage}; it is built again")
                    if damage is not None:
                        self._fill(path, what, build, work)
        return self.folder / path

    def has(self, path: str) -> bool:
        """Whether there is an entry `KIND/NAME-KEY`."""
        return (self.folder / path / _RECORD).exists()

    def hold(self, path: str) -> bool:
        """Keep the entry `KIND/NAME-KEY` until this process ends; False if there is no intact one."""
        with self._mutex:
            if path in self._held:
                if self.has(path):
                    return True
                self._held.discard(path)  # somebody has deleted the folder
                self._locks.release(path)
            if not self.has(path) or not self._locks.hold(path):
                return False
            if self._damage(path) is not None:
                self._locks.release(path)
                return False
            self._held.add(path)
            os.utime(self.folder / path / _RECORD)
            return True

    def entries(self) -> list[Entry]:
        """All entries with a record, the one that was used last at first."""
        found = []
        for path in self._paths():
            record = self.folder / path / _RECORD
            try:
                used = record.stat().st_mtime
                found.append(Entry(path, Record.load(record), used))
            except (OSError, ValueError):
                continue  # removed meanwhile, or unfinished
        return sorted(found, key=lambda entry: entry.used, reverse=True)

    @property
    def limit(self) -> int:
        """Bytes that all entries may have; kept in the cache, for all its users."""
        try:
            return int(read_text(self.folder / _LIMIT))
        except ValueError:
            return DEFAULT_LIMIT

    @limit.setter
    def limit(self, count: int) -> None:
        with self._explained():
            self._make_folder()
            _replace(self.folder / _LIMIT, f"{count}\n")

    def settle(self) -> None:
        """Keep the limit, if this process has built anything since the last time."""
        if self._has_grown:
            self._has_grown = False
            self.trim()

    def trim(self) -> list[Entry]:
        """Remove entries until the others are within the limit; returns the removed ones."""
        if not self._is_cache():
            return []
        with self._explained():
            self._remove_unfinished(_SECONDS_OF_A_LOG)
            entries = self.entries()
            excess = sum(entry.record.bytes for entry in entries) - self.limit
            removed = []
            for entry in reversed(entries):
                if excess <= 0:
                    break
                if self._remove(entry.path, entry.used):
                    removed.append(entry)
                    excess -= entry.record.bytes
        return removed

    def clean(self, unused_for: float = 0) -> tuple[list[Entry], list[Entry]]:
        """Remove all entries that nobody has used for so many seconds; (removed, kept because in use)."""
        if not self._is_cache():
            return [], []
        removed: list[Entry] = []
        kept: list[Entry] = []
        with self._explained():
            self._remove_unfinished(unused_for)
            for entry in self.entries():
                if time.time() - entry.used >= unused_for:
                    (removed if self._remove(entry.path, entry.used) else kept).append(entry)
        return removed, kept

    def seconds_of(self, kind: str, work: int) -> float | None:
        """The seconds that builds of a kind have taken, for so much work; None if none is in the cache."""
        records = [entry.record for entry in self.entries() if entry.kind == kind and entry.record.work]
        if not records:
            return None
        return sum(record.seconds for record in records) / sum(record.work for record in records) * work

    def record(self, folder: Path) -> Record:
        """The record of an entry that this process has asked for."""
        return Record.load(folder / _RECORD)

    def _is_cache(self) -> bool:
        """Whether the folder was made for a cache: nothing is removed from others."""
        self._require_own(self.folder)
        try:
            return read_text(self.folder / _TAG) == _TAG_TEXT
        except InputError:
            return False

    def _make_folder(self) -> None:
        """Make the folder, or make an empty one a cache.

        Raises `CacheError` for a folder with other files.
        """
        make_private(self.folder)
        if self._is_cache():
            return
        # Other processes may be about to do the same.
        if any(not path.name.startswith(_TAG) for path in self.folder.iterdir()) and not self._is_cache():
            raise CacheError(
                f"{self.folder} has other files than those of a cache: --cache-dir names a new folder"
            )
        _replace(self.folder / _TAG, _TAG_TEXT)

    def _require_own(self, path: Path) -> None:
        """Raise `ForeignFile` if others can change what is at `path`, which may be absent, in the cache."""
        for place in {self.folder, Path(os.path.realpath(path))}:
            with suppress(FileNotFoundError):
                require_own(place)

    def _paths(self) -> list[str]:
        if not self._is_cache():
            return []
        return [f"{path.parent.name}/{path.name}" for path in self.folder.glob("*/*") if path.is_dir()]

    def _damage(self, path: str) -> str | None:
        """None for an intact entry, an empty text for none, else what is wrong with it."""
        if not self.has(path):
            return ""
        self._require_own(self.folder / path)
        self._require_own(self.folder / path / _RECORD)
        try:
            return Record.load(self.folder / path / _RECORD).damage(self.folder / path)
        except InputError:
            return f"{_RECORD} cannot be read"

    def _fill(self, path: str, what: str, build: Callable[[Path], None], work: int) -> None:
        folder = self.folder / path
        _delete(folder)
        folder.mkdir(0o700)
        begun = time.monotonic()
        try:
            build(folder)
            withdraw_write(folder)
            Record.of(folder, what, time.monotonic() - begun, work).save(folder / _RECORD)
            self._has_grown = True
        except (OSError, ToolError) as error:
            if _is_full(error, self.folder):
                _delete(folder)  # it would hold the space that is missing
                raise CacheError(
                    f"no space is left for {what} in the cache {self.folder}:"
                    " `flashtrain build --clean` makes some, --cache-dir names another folder"
                ) from error
            raise

    def _remove(self, path: str, used: float) -> bool:
        """Remove an entry that nobody has used since then, and that nobody holds."""
        with self._locks.alone(_build_lock(path)) as unbuilt, self._locks.alone(path) as unused:
            record = self.folder / path / _RECORD
            if not (unbuilt and unused) or (record.exists() and record.stat().st_mtime > used):
                return False
            _delete(self.folder / path)
            return True

    def _remove_unfinished(self, age: float) -> None:
        """Remove what builds have left that failed, or whose process was killed, so many seconds ago."""
        for path in self._paths():
            folder = self.folder / path
            try:
                unfinished = not (folder / _RECORD).exists() and time.time() - folder.stat().st_mtime >= age
            except FileNotFoundError:
                continue
            if unfinished:
                self._remove(path, time.time())

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say of an `OSError` in the cache which folder it is about, and what to do."""
        try:
            yield
        except OSError as error:
            if error.filename is None or not str(error.filename).startswith(str(self.folder)):
                raise
            raise CacheError(
                f"the cache {self.folder} cannot be used: {error.filename}: {error.strerror};"
                " --cache-dir names another folder"
            ) from error


def default_folder() -> Path:
    """`flashtrain` among the caches of the user; without such, a folder among the temporary files."""
    caches = users_caches()
    if caches is None:
        return Path(tempfile.gettempdir(), f"flashtrain-{os.geteuid()}")
    return caches / "flashtrain"


_selected: UserCache | None = None


def user_cache() -> UserCache:
    """The cache that this process uses."""
    return _selected or select_cache(default_folder())


def select_cache(folder: Path) -> UserCache:
    """Use the cache in that folder from now on."""
    global _selected
    cache = UserCache(folder)
    if _selected is None or _selected.folder != cache.folder:  # else it holds entries
        _selected = cache
    return _selected


@contextmanager
def using_cache(folder: Path | None) -> Iterator[None]:
    """Use the cache in that folder in this block; None: the same as before."""
    global _selected
    if folder is None:
        yield
        return
    before = _selected
    select_cache(folder)
    try:
        yield
    finally:
        _selected = before


def about(seconds: float) -> str:
    """A duration that is an estimate."""
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} minutes"


def _build_lock(path: str) -> str:
    """The lock of those that fill an entry; that of its users is called as the entry."""
    return f"{path} build"


def _replace(path: Path, text: str) -> None:
    """Write a file, of which no other process sees half."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _delete(folder: Path) -> None:
    """The record goes first: without one nobody takes the rest for an entry."""
    (folder / _RECORD).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _is_full(error: Exception, folder: Path) -> bool:
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return True
    return os.strerror(errno.ENOSPC) in str(error) or shutil.disk_usage(folder).free < _LEAST_FREE


def _say(text: str) -> None:
    print(f"flashtrain: {text}", file=sys.stderr, flush=True)
