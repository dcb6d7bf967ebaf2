"""Arrays of a file of NumPy's formats."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from .errors import ArrayFileError


def arrays_of(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a `.npy` or `.npz` file by name, each of float32 and not empty.

    A `.npy` file has one, with the file's name. Raises `ArrayFileError`, and `OSError` of the file itself.
    """
    try:
        content = np.load(path, allow_pickle=False)
        arrays = {path.stem: content} if isinstance(content, np.ndarray) else dict(content)
    except (ValueError, EOFError, BadZipFile) as error:
        raise ArrayFileError(f"{path}: no .npy or .npz file of plain arrays") from error
    if not arrays:
        raise ArrayFileError(f"{path}: no array in the file")
    return {name: _checked(path, name, array) for name, array in arrays.items()}


def _checked(path: Path, name: str, array: NDArray) -> NDArray[np.float32]:
    if array.dtype.newbyteorder("=") != np.float32:
        raise ArrayFileError(f"{path}: array {name} has dtype {array.dtype}; expected float32")
    if not array.size:
        raise ArrayFileError(f"{path}: array {name} of shape {array.shape} is empty")
    return array.astype(np.float32, copy=False)
