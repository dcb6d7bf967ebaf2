"""Folders for the files of a command."""

from pathlib import Path
from tempfile import TemporaryFile


def require_writable(folder: Path) -> None:
    """Make the folder. One that takes no files stops the command now, and not after its work."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
