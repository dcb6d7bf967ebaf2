"""The option `--image`, of commands whose device may keep its flash in a file."""

import argparse
from pathlib import Path

from flashtrain.spec import ConfigError


def add_image(parser: argparse.ArgumentParser, of: str = "this new file") -> None:
    """of: which files the command takes."""
    parser.add_argument(
        "--image", type=Path, metavar="FILE",
        help=f"keep the flash in {of}, for open_device(image=FILE) (docs/image.md)",
    )  # fmt: skip


def require_new_image(image: Path | None) -> None:
    """:class:`ConfigError` for a file that is there: the command would add to what it holds."""
    if image is not None and image.exists():
        raise ConfigError(f"--image {image}: the file exists; expected a new one")
