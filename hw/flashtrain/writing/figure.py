"""Figures of Matplotlib as files."""

from pathlib import Path
from typing import Any, Protocol

from .errors import OutputError
from .new_file import replacing

SUFFIXES = (".png", ".svg", ".pdf")
"""Endings of figures, which name the format."""


class _Figure(Protocol):
    def savefig(self, fname: Any, *, format: str, dpi: int) -> None: ...


def check_suffix(path: Path) -> None:
    """:class:`OutputError` unless the ending names a format."""
    if path.suffix not in SUFFIXES:
        raise OutputError(f"{path}: expected a figure that ends with {', '.join(SUFFIXES)}")


def save_figure(figure: _Figure, path: Path, dpi: int = 120) -> None:
    """Replace the file at `path`; :class:`OutputError` as of `replacing`, and for an unknown ending."""
    check_suffix(path)
    with replacing(path, binary=True) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=dpi)
