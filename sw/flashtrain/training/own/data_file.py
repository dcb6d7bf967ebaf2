"""Data sets of one's own in NumPy's files of several arrays, `FILE.npz`."""

from pathlib import Path

import numpy as np

from flashtrain.reading import InputError
from flashtrain.reading.arrays import read_arrays
from flashtrain.training.arrays import FLOAT32, Array, ArraySpec
from flashtrain.training.data import Dataset, Examples
from flashtrain.training.errors import DataError
from flashtrain.training.networks import Network

_NAMES = (
    ("train_inputs", "train_targets", "test_inputs", "test_targets"),
    ("x_train", "y_train", "x_test", "y_test"),
)
"""The names of the arrays: ours, and those of the files of Keras."""


def load_data(path: Path, network: Network) -> Dataset:
    """The data set of a file, for this network; :class:`InputError` names the file, the array and what was
    expected of it.
    """
    arrays = read_arrays(path)
    if arrays.keys() == {path.stem}:
        raise InputError(path, "has one array without a name; expected a .npz file, as numpy.savez writes")
    names = next((names for names in _NAMES if set(names) <= arrays.keys()), None)
    if names is None:
        closest = max(_NAMES, key=lambda names: len(arrays.keys() & set(names)))
        missing = [name for name in closest if name not in arrays]
        raise InputError(path, f"no array {', '.join(missing)}; it has {', '.join(arrays) or 'none'}")
    try:
        return _dataset({name: arrays[name] for name in names}, network)
    except DataError as error:
        raise InputError(path, str(error)) from error


def fitting(source: str, data: Dataset, network: Network) -> Dataset:
    """The same data set for this network; :class:`DataError` if it does not fit."""
    arrays = (data.train.inputs, data.train.targets, data.test.inputs, data.test.targets)
    try:
        return _dataset(dict(zip(_NAMES[0], arrays, strict=True)), network)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error


def _dataset(arrays: dict[str, Array], network: Network) -> Dataset:
    parts = []
    for inputs, targets in (list(arrays)[:2], list(arrays)[2:]):
        x = _converted(inputs, arrays[inputs], network.input_spec(1), network.layers[0][1].integers())
        y = _converted(targets, arrays[targets], network.target_spec(1), network.outputs)
        if len(x) != len(y):
            raise DataError(f"{inputs} has {len(x)} examples, but {targets} has {len(y)}")
        parts.append(Examples(x, y))
    return Dataset(*parts)


def _converted(what: str, array: Array, spec: ArraySpec, values: int) -> Array:
    """The array as the network takes it; `spec` is of one example, whose integers are below `values`."""
    wanted = spec.shape[1:]
    if wanted == (1,) and array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != len(spec.shape) or array.shape[1:] != wanted:
        expected = ", ".join(map(str, ("n", *wanted)))
        raise DataError(f"{what} has the shape {array.shape}; expected ({expected}{',' * (not wanted)})")
    if not len(array):
        raise DataError(f"{what} has no examples; expected at least one")
    return _floats(what, array) if spec.dtype == FLOAT32 else _integers(what, array, spec, values)


def _floats(what: str, array: Array) -> Array:
    if array.dtype.kind not in "buif":
        raise DataError(f"{what} is {array.dtype}; expected numbers")
    with np.errstate(over="ignore"):
        floats = np.ascontiguousarray(array, np.float32)
    if not np.isfinite(floats).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(floats))[0])
        raise DataError(f"{what}: element {list(place)} is {array[place]}; expected finite float32 numbers")
    return floats


def _integers(what: str, array: Array, spec: ArraySpec, values: int) -> Array:
    if array.dtype.kind not in "bui":
        raise DataError(f"{what} is {array.dtype}; expected integers from 0 to {values - 1}")
    wrong = (array < 0) | (array >= values)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise DataError(f"{what}: element {list(place)} is {array[place]}; expected 0 to {values - 1}")
    return np.ascontiguousarray(array, spec.numpy)
