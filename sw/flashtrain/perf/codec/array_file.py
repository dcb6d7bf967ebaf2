"""Arrays of a file of NumPy's formats."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.reading import InputError
from flashtrain.reading.arrays import read_arrays


def arrays_of(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a `.npy` or `.npz` file by name, each of float32 and not empty; `InputError`.

    A `.npy` file has one, with the file's name.
    """
    arrays = read_arrays(path)
    if not arrays:
        raise InputError(path, "no array in the file")
    return {name: _checked(path, name, array) for name, array in arrays.items()}


def _checked(path: Path, name: str, array: NDArray) -> NDArray[np.float32]:
    if array.dtype.newbyteorder("=") != np.float32:
        raise InputError(path, f"array {name} has dtype {array.dtype}; expected float32")
    if not array.size:
        raise InputError(path, f"array {name} of shape {array.shape} is empty")
    return array.astype(np.float32, copy=False)
