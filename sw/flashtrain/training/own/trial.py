"""A trial of a network before its training: a pass over a few examples, compared with what layers declare."""

import numpy as np

from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Arrays, ArraySpec, Shape
from flashtrain.training.data import Examples
from flashtrain.training.errors import NetworkError, ShapeError
from flashtrain.training.layers import Draw
from flashtrain.training.networks import Network
from flashtrain.training.own.user_code import user_code
from flashtrain.training.passes import backward_layer, forward_layer, stored_specs

_EXAMPLES = 2


def try_network(network: Network, examples: Examples) -> None:
    """:class:`NetworkError` that names the layer, for one that raises or breaks the contract of `Layer`."""
    few = examples.take(np.arange(min(_EXAMPLES, len(examples))))
    with one_thread(), np.errstate(all="ignore"):
        _Trial(network, few).run()


class _Trial:
    def __init__(self, network: Network, examples: Examples) -> None:
        self._network = network
        self._examples = examples
        self._batch = len(examples)
        with user_code(f"network {network.name}"):
            self._parameters = network.initialise(0)
            self._running = network.first_running()

    def run(self) -> None:
        network, x, saved, draw = self._network, self._examples.inputs, {}, Draw()
        for name, layer in network.layers:
            what = f"network {network.name}: layer {name} ({type(layer).__name__})"
            own = self._parameters.get(name, {})
            _check(what, "parameters", own, layer.parameter_shapes())
            with user_code(what):
                x, saved[name] = forward_layer(network, name, own, x, draw)
                shape = layer.output_shape(network.input_shapes[name])
            _check(what, "outputs", {"y": x}, {"y": (self._batch, *shape)})
            _check(what, "saved arrays", saved[name], stored_specs(network, name, self._batch))
        with user_code(f"network {network.name}: {network.loss.name}"):
            _, dy = network.loss.value(x, self._examples.targets)
        for name, layer in reversed(network.layers):
            what = f"network {network.name}: layer {name} ({type(layer).__name__})"
            with user_code(what):
                dy, gradients = backward_layer(
                    network, name, self._parameters.get(name, {}), saved[name], dy, draw
                )
            _check(what, "gradients", gradients, layer.parameter_shapes())
            _check(
                what, "gradients by the input", {"dx": dy}, {"dx": (self._batch, *network.input_shapes[name])}
            )
        with user_code(f"network {network.name}: evaluation"):
            network.evaluate(self._parameters, self._examples.inputs, self._examples.targets, self._running)


def _check(what: str, kind: str, arrays: Arrays, expected: dict[str, Shape] | dict[str, ArraySpec]) -> None:
    if arrays.keys() != expected.keys():
        raise NetworkError(f"{what}: {kind} are {sorted(arrays)}; expected {sorted(expected)}")
    for key, spec in expected.items():
        try:
            (spec if isinstance(spec, ArraySpec) else ArraySpec(spec)).check(key, arrays[key])
        except ShapeError as error:
            raise NetworkError(f"{what}: {kind}: {error}") from error
