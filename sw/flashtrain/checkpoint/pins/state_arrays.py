"""Optimizer state on the dies as named arrays, for stores of checkpoints, and back."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint.errors import NoCheckpoint
from flashtrain.host import Generation, OptimizerState
from flashtrain.spec.optimizer import Input


def arrays_of(state: OptimizerState, generation: Generation | None = None) -> dict[str, NDArray[np.float32]]:
    """The weights and state of the current or a pinned generation, by names such as `0/2/w`.

    A name has the number of the group, that of the tensor in it, and the array.
    """
    return {
        array_name(number, tensor, array): values
        for number, group in enumerate(state.groups)
        for array in group.arrays
        for tensor, values in enumerate(state.read_group(array, number, generation))
    }


class ArrayPlace(NamedTuple):
    """The place of an array in optimizer state: group, tensor in it, and which array."""

    group: int
    tensor: int
    array: Input


def place_of(state: OptimizerState, name: str) -> ArrayPlace:
    """The place of a name of :func:`arrays_of`; :class:`NoCheckpoint` for another name."""
    places = {
        array_name(number, tensor, array): ArrayPlace(number, tensor, array)
        for number, group in enumerate(state.groups)
        for tensor in range(len(group.shapes))
        for array in group.arrays
    }
    if name not in places:
        raise NoCheckpoint(f"no array {name!r} of the optimizer state; there are {', '.join(places)}")
    return places[name]


def initialise_from(
    state: OptimizerState, arrays: Mapping[str, NDArray[Any]], updates: int, note: bytes = b""
) -> None:
    """Store arrays of :func:`arrays_of` as a first generation, of a device of any geometry.

    :class:`NoCheckpoint` for an array that is missing, and the errors of :meth:`OptimizerState.initialise`.
    """

    def of(array: Input) -> list[list[NDArray[Any]]]:
        return [
            [_named(arrays, array_name(number, tensor, array)) for tensor in range(len(group.shapes))]
            if array in group.arrays
            else []
            for number, group in enumerate(state.groups)
        ]

    state.initialise(of(Input.W), of(Input.M), of(Input.V), updates, note)


def array_name(group: int, tensor: int, array: Input) -> str:
    """The name of an array of a checkpoint of optimizer state."""
    return f"{group}/{tensor}/{array.name.lower()}"


def _named(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise NoCheckpoint(
            f"no array {name!r} of the optimizer state; there are {', '.join(arrays) or 'none'}"
        )
    return arrays[name]
