"""Types of arguments that name outputs: a place that takes none stops a command before its work."""

import argparse
from collections.abc import Callable
from pathlib import Path

from flashtrain.writing import OutputError, check_file, check_folder
from flashtrain.writing.figure import check_suffix


def output_file(text: str) -> Path:
    """A file to write, for `argparse`."""
    return _checked(text, check_file)


def figure_file(text: str) -> Path:
    """The file of a figure to draw, for `argparse`."""
    return _checked(text, check_suffix, check_file)


def output_folder(text: str) -> Path:
    """A folder for files to write, for `argparse`."""
    return _checked(text, check_folder)


def _checked(text: str, *checks: Callable[[Path], None]) -> Path:
    path = Path(text)
    try:
        for check in checks:
            check(path)
    except OutputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path
