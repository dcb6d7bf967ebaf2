"""The option `--image`, of commands whose device may keep its flash in a file."""

import argparse
from pathlib import Path

from flashtrain.spec import ConfigError

from .outputs import output_file


def add_image(parser: argparse.ArgumentParser, of: str = "this new file") -> None:
    """of: which files the command takes."""
    parser.add_argument(
        "--image", type=_image_file, metavar="FILE",
        help=f"keep the flash in {of}, for open_device(image=FILE) (docs/image.md)",
    )  # fmt: skip


def _image_file(text: str) -> Path:
    """A file for the flash, new or old, for `argparse`."""
    path = output_file(text)
    if path.is_symlink() and not path.exists():
        raise argparse.ArgumentTypeError(
            f"{text}: a link to {path.readlink()}, which is not there; expected a file"
        )
    return path


def require_new_image(image: Path | None) -> None:
    """:class:`ConfigError` for a file that is there: the command would add to what it holds."""
    if image is not None and image.exists():
        raise ConfigError(f"--image {image}: the file exists; expected a new one")
