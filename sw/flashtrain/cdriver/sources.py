"""The files of the C driver, together with the header of the contract."""

from pathlib import Path

from flashtrain.spec.header import header
from flashtrain.writing import write_text

CONTRACT_HEADER = "flashtrain.h"

_FOLDER = Path(__file__).parent


def driver_sources() -> dict[str, str]:
    """Text by file name: all C files and headers of the driver, and `CONTRACT_HEADER`."""
    files = sorted([*_FOLDER.glob("*.h"), *_FOLDER.glob("*.c")])
    return {CONTRACT_HEADER: header()} | {path.name: path.read_text(encoding="utf-8") for path in files}


def write_driver(folder: Path) -> list[Path]:
    """Write these files into a folder, which is made if it is missing; returns their paths."""
    written = []
    for name, text in driver_sources().items():
        written.append(folder / name)
        write_text(written[-1], text)
    return written
