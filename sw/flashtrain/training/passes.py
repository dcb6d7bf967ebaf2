"""Forward and backward pass of one layer of a network in training, in the format of its activations."""

import numpy as np

from flashtrain.training.arrays import Array, Arrays, ArraySpec, FloatArray
from flashtrain.training.layers import Draw
from flashtrain.training.networks import Network, Parameters


def stored_specs(network: Network, layer: str, batch: int) -> dict[str, ArraySpec]:
    """The arrays that the layer saves for its backward pass, as they are stored."""
    exact = network.layer(layer).exact()
    return {
        key: spec if key in exact else network.activations.spec(spec)
        for key, spec in _saved_specs(network, layer, batch).items()
    }


def forward_layer(
    network: Network, layer: str, parameters: Arrays, x: Array, draw: Draw
) -> tuple[FloatArray, Arrays]:
    """The output, and the saved arrays as they are stored."""
    one, form = network.layer(layer), network.activations
    y, saved = one.at(draw.of(layer)).forward(parameters, x)
    exact = one.exact()
    stored = {key: array if key in exact else form.store(array) for key, array in saved.items()}
    return (y if layer == network.layers[-1][0] else form.rounded(y)), stored


def backward_layer(
    network: Network, layer: str, parameters: Arrays, stored: Arrays, dy: FloatArray, draw: Draw
) -> tuple[FloatArray, Arrays]:
    """The gradients by the input and by the parameters."""
    one, form = network.layer(layer), network.activations
    exact, specs = one.exact(), _saved_specs(network, layer, len(dy))
    saved = {k: array if k in exact else form.load(array, specs[k]) for k, array in stored.items()}
    # An overflow is no mistake here: the step is skipped, and the run counts it.
    with np.errstate(over="ignore", invalid="ignore"):
        dx, gradients = one.at(draw.of(layer)).backward(parameters, saved, dy)
    return form.rounded(dx), gradients


def next_running(network: Network, running: Parameters, stored: dict[str, Arrays]) -> Parameters:
    """The running arrays after a batch, from those before and what the forward pass of each layer saved."""
    return {name: network.layer(name).next_running(own, stored[name]) for name, own in running.items()}


def _saved_specs(network: Network, layer: str, batch: int) -> dict[str, ArraySpec]:
    return network.layer(layer).saved_specs(batch, network.input_shapes[layer])
