"""The training of a network as a job whose memory may be taken away."""

from math import prod

import numpy as np

from flashtrain.checkpoint.memory.array_layout import ArrayLayout
from flashtrain.checkpoint.memory.errors import JobError
from flashtrain.checkpoint.memory.managed_job import ManagedJob
from flashtrain.checkpoint.memory.resumable_batches import WORDS, ResumableBatches
from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Arrays, Shape, pack, unpack
from flashtrain.training.data import Dataset
from flashtrain.training.layers import softmax_cross_entropy
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.reference import TrainingLog, WeightsDigest, backward, forward

COUNTERS = 2
ITERATION, STEP = range(COUNTERS)
"""Iterations that are done, and the number of the next step of the optimizer."""


class ManagedTraining(ManagedJob):
    """Trains `network` as `training.reference.train_reference` does, bit for bit.

    Its arrays are the weights and the optimizer's state of each layer, packed, the position in the data with
    its random state, and counters. Activations and gradients are the accelerator's.
    """

    def __init__(
        self, name: str, network: Network, data: Dataset, optimizer: Optimizer, batch: int, iterations: int,
        seed: int,
    ) -> None:  # fmt: skip
        if iterations < 1:
            raise JobError(f"job {name}: {iterations} iterations; expected at least 1")
        self.name = name
        self.iterations = iterations
        self._network = network
        self._optimizer = optimizer
        self._seed = seed
        self._batches = ResumableBatches(data, batch)
        self._shapes: dict[str, dict[str, Shape]] = {
            layer: dict(each.parameter_shapes()) for layer, each in network.layers if each.parameter_shapes()
        }
        self._names = {
            layer: ["w", *optimizer.state_names] for layer in self._shapes
        }  # of the vectors of each layer
        vectors = {
            f"{layer}.{name}": ((sum(prod(shape) for shape in self._shapes[layer].values()),), np.float32)
            for layer, names in self._names.items()
            for name in names
        }
        own = {"loader": ((WORDS,), np.uint64), "counters": ((COUNTERS,), np.int64)}
        self.layout = ArrayLayout({**vectors, **own})
        self._losses: list[float] = []
        self._digests: list[str] = []
        self._last: Parameters = {}

    @property
    def log(self) -> TrainingLog:
        """Losses, digests and result of the iterations so far."""
        return TrainingLog(tuple(self._losses), tuple(self._digests), self._last)

    def initialise(self, arrays: Arrays) -> None:
        for layer, parameters in self._network.initialise(self._seed).items():
            weights = pack(parameters, self._shapes[layer])
            arrays[f"{layer}.w"][:] = weights
            for name, array in self._optimizer.initial_state(weights).items():
                arrays[f"{layer}.{name}"][:] = array
        self._batches.start(arrays["loader"], self._seed)
        arrays["counters"][:] = (0, 1)

    def step(self, arrays: Arrays) -> None:
        counters, digest = arrays["counters"], WeightsDigest()
        examples = self._batches.take(arrays["loader"])
        for layer in self._shapes:
            digest.add(arrays[f"{layer}.w"])
        parameters = self._parameters(arrays)
        with one_thread():
            logits, saved = forward(self._network, parameters, examples.inputs)
            loss, dy = softmax_cross_entropy(logits, examples.targets)
            _, gradients = backward(self._network, parameters, saved, dy)
            packed = {layer: pack(gradients[layer], shapes) for layer, shapes in self._shapes.items()}
            # As the dies do: a step with an overflow is skipped.
            if all(np.isfinite(gradient).all() for gradient in packed.values()):
                for layer, gradient in packed.items():
                    self._update(arrays, layer, gradient, int(counters[STEP]))
                counters[STEP] += 1
        counters[ITERATION] += 1
        self._losses.append(loss)
        self._digests.append(digest.take())
        if counters[ITERATION] == self.iterations:
            self._last = {
                layer: {name: array.copy() for name, array in own.items()}
                for layer, own in self._parameters(arrays).items()
            }

    def _parameters(self, arrays: Arrays) -> Parameters:
        return {layer: unpack(arrays[f"{layer}.w"], shapes) for layer, shapes in self._shapes.items()}

    def _update(self, arrays: Arrays, layer: str, gradient: np.ndarray, step: int) -> None:
        own = {name: arrays[f"{layer}.{name}"] for name in self._names[layer]}
        weights = own.pop("w")
        new_weights, new_state = self._optimizer.step(weights, gradient, own, step)
        weights[:] = new_weights
        for name, array in new_state.items():
            own[name][:] = array
