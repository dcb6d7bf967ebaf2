"""Keys of content, and folders of the tree named by them: the same inputs are built once, by one process.

`user_cache.py` has the builds that all folders of a user share.
"""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from flashtrain.reading.ownership import require_own_file
from flashtrain.spec.errors import FlashtrainError

BUILD = Path("build")
"""Results of this folder, below the current directory; may be deleted at any time."""

_DONE = ".done"


class SourceError(FlashtrainError, ValueError):
    """The sources given for a build cannot be used together."""


def content_key(*parts: str | bytes) -> str:
    """A short name that differs when any part does."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def files_key(files: Mapping[str, str]) -> str:
    """`content_key` of file names and texts."""
    return content_key(*(part for name in sorted(files) for part in (name, files[name])))


def read_sources(paths: Iterable[Path]) -> dict[str, str]:
    """Text by file name, in the order given. Raises `SourceError` where two files have one name."""
    files: dict[str, str] = {}
    for path in paths:
        if path.name in files:
            raise SourceError(f"two of the sources are called {path.name}: they go into one folder")
        files[path.name] = path.read_text("utf-8")
    return files


def write_sources(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write the files into a new folder; returns their paths."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def build_once(folder: Path, build: Callable[[], None]) -> None:
    """Call `build`, which fills the empty `folder`, unless an earlier call for this folder has succeeded.

    Other processes that want the same folder wait. Raises `ForeignFile` if others can write to `folder`.
    """
    with suppress(FileNotFoundError):
        require_own_file(folder, folder.lstat())
    done = folder / _DONE
    if done.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f"{folder.name}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(0o700)
        build()
        done.touch()
