"""Activations that a network saves in its forward pass, after some training."""

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from flashtrain.training.arithmetic import one_thread
from flashtrain.training.data import Dataset
from flashtrain.training.recipes import Recipe
from flashtrain.training.reference import forward, reference_steps


def saved_activations(
    recipe: Recipe, data: Dataset, iterations: int, batch: int, seed: int
) -> dict[str, NDArray]:
    """The arrays by layer and name, of a batch of so many examples.

    The network is trained by its recipe for so many iterations, as `reference_steps` does.
    """
    steps = reference_steps(recipe.network, data, recipe.optimizer, recipe.batch, seed)
    parameters = recipe.network.initialise(seed)
    for step in islice(steps, iterations):
        parameters = step.parameters
    examples = next(data.batches(batch, seed))
    with one_thread():
        _, saved = forward(recipe.network, parameters, examples.inputs)
    return {
        f"{layer}.{name}": np.ascontiguousarray(array)
        for layer, arrays in saved.items()
        for name, array in arrays.items()
    }
