"""Checks of the places of output files, before the work whose results they take."""

import os
from pathlib import Path
from tempfile import TemporaryFile

from .errors import OutputError


def check_file(path: Path) -> None:
    """:class:`OutputError` unless a file can be written to `path`; missing folders are fine.

    Only a regular file can be replaced: a folder, a device, a pipe and a link to one of them are refused.
    """
    try:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; expected a file to write")
        if path.exists() and not path.is_file():
            raise OutputError(f"{path}: not a regular file; expected one, or a new name")
    except OSError as error:  # a name that is too long
        raise OutputError.of(path, error) from error
    check_folder(path.parent)


def check_folder(path: Path) -> None:
    """:class:`OutputError` unless files can be made in the folder `path`, or it can be made."""
    nearest = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir():
        raise OutputError(f"{path}: {nearest} is not a folder; expected one to write to")
    try:
        TemporaryFile(dir=nearest).close()
    except OSError as error:
        if nearest == path:
            raise OutputError.of(path, error) from error
        raise OutputError(f"{path}: cannot be made in {nearest}: {error.strerror}") from error
