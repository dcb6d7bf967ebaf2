"""Dtypes as values of JSON, structured ones included."""

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.lib.format import descr_to_dtype, dtype_to_descr

from flashtrain.host.errors import ArrayError


def encode(dtype: np.dtype) -> Any:
    """The dtype as a value of JSON; :class:`ArrayError` for one that NumPy cannot describe."""
    with warnings.catch_warnings(), suppress(ValueError):  # of fields that overlap
        warnings.simplefilter("ignore")  # the comparison finds what they warn of
        described = dtype_to_descr(dtype)
        if decode(described) == dtype:
            return described
    raise ArrayError(
        f"dtype {dtype} has no description of NumPy's own; store a view of the array as unsigned integers"
    )


def decode(described: Any) -> np.dtype:
    """The dtype of such a value, in which JSON has made lists of tuples."""
    return descr_to_dtype(_tuples(described))


def _tuples(described: Any) -> Any:
    if isinstance(described, str):
        return described
    if isinstance(described, tuple):  # a dtype with a shape of its own
        return described
    return [_field(*field) for field in described]


def _field(name: Any, kind: Any, shape: Any = ()) -> tuple[Any, ...]:
    name = tuple(name) if isinstance(name, list) else name
    return (name, _tuples(kind), tuple(shape)) if shape else (name, _tuples(kind))
