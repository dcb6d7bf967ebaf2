"""Training in plain NumPy, all tensors in memory: what training through the flash must equal, bit for bit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np

from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Arrays, FloatArray, pack, unpack
from flashtrain.training.data import Dataset
from flashtrain.training.layers import softmax_cross_entropy
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.optimizers import Optimizer, State


@dataclass(frozen=True)
class TrainingLog:
    """Losses, digests and result of a run.

    For each iteration it has the loss of the batch, and a digest of the weights at its start. `parameters`
    are the weights after the last iteration.
    """

    losses: tuple[float, ...]
    digests: tuple[str, ...]
    parameters: Parameters

    def equals(self, other: "TrainingLog") -> bool:
        """Whether both runs agree in every bit of every loss and, in every iteration, of every weight."""
        same_losses = np.array(self.losses).tobytes() == np.array(other.losses).tobytes()
        same_digests = self.digests == other.digests
        return same_losses and same_digests and bits_equal(self.parameters, other.parameters)


class WeightsDigest:
    """A digest of packed weights, in the order of the layers; it depends on every bit of them."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def add(self, packed: FloatArray) -> None:
        """The weights of the next layer."""
        self._hash.update(packed.tobytes())

    def take(self) -> str:
        """The digest of what was added; the next one begins."""
        digest = self._hash.hexdigest()
        self._hash = blake2b(digest_size=16)
        return digest


def bits_equal(a: Parameters, b: Parameters) -> bool:
    """Whether two sets of parameters have the same names, shapes, dtypes and bytes."""
    return _bits(a) == _bits(b)


def _bits(parameters: Parameters) -> dict[tuple[str, str], tuple[str, tuple[int, ...], bytes]]:
    return {
        (layer, name): (array.dtype.name, array.shape, array.tobytes())
        for layer, arrays in parameters.items()
        for name, array in arrays.items()
    }


def forward(network: Network, parameters: Parameters, x: FloatArray) -> tuple[FloatArray, dict[str, Arrays]]:
    """Forward pass of a whole network: logits, and what each layer saved."""
    saved = {}
    for name, layer in network.layers:
        x, saved[name] = layer.forward(parameters.get(name, {}), x)
    return x, saved


def backward(
    network: Network, parameters: Parameters, saved: dict[str, Arrays], dy: FloatArray
) -> tuple[FloatArray, Parameters]:
    """Backward pass of a whole network: gradient by its input, and by every parameter."""
    gradients = {}
    for name, layer in reversed(network.layers):
        dy, gradients[name] = layer.backward(parameters.get(name, {}), saved[name], dy)
    return dy, gradients


def update_layer(optimizer: Optimizer, w: Arrays, g: Arrays, state: State, t: int) -> tuple[Arrays, State]:
    """One optimizer step on all parameters of a layer; `state` is packed as `arrays.pack` packs them."""
    shapes = {name: array.shape for name, array in w.items()}
    vector, state = optimizer.step(pack(w, shapes), pack(g, shapes), state, t)
    return unpack(vector, shapes), state


@dataclass(frozen=True)
class ReferenceStep:
    """One iteration: its loss, a digest of the weights that it began with, and those that it ended with; the
    optimizer's state for each layer is packed as `arrays.pack` packs its weights."""

    loss: float
    digest: str
    parameters: Parameters
    states: dict[str, State]


def reference_steps(
    network: Network, data: Dataset, optimizer: Optimizer, batch: int, seed: int, skip_overflow: bool = True
) -> Iterator[ReferenceStep]:
    """Train `network` without end; see :func:`train_reference`."""
    parameters = network.initialise(seed)
    states = {name: optimizer.initial_state(_packed(w)) for name, w in parameters.items()}
    digest, step = WeightsDigest(), 1
    for examples in data.batches(batch, seed):
        for w in parameters.values():
            digest.add(_packed(w))
        with one_thread():
            logits, saved = forward(network, parameters, examples.images)
            loss, dy = softmax_cross_entropy(logits, examples.labels)
            _, gradients = backward(network, parameters, saved, dy)
            if not skip_overflow or _finite(gradients):
                updated = {
                    name: update_layer(optimizer, w, gradients[name], states[name], step)
                    for name, w in parameters.items()
                }
                parameters = {name: w for name, (w, _) in updated.items()}
                states = {name: state for name, (_, state) in updated.items()}
                step += 1
        yield ReferenceStep(loss, digest.take(), parameters, states)


def train_reference(
    network: Network,
    data: Dataset,
    optimizer: Optimizer,
    batch: int,
    iterations: int,
    seed: int,
    progress: Callable[[int, float], None] = lambda iteration, loss: None,
    skip_overflow: bool = True,
) -> TrainingLog:
    """Train `network` from weights and batches that follow from `seed`.

    `progress` is called after each iteration with its number, from 1, and its loss. A step whose gradients
    have a NaN or an infinity is skipped, as it is when the dies update; not with `skip_overflow=False`.
    """
    steps = []
    for step in islice(reference_steps(network, data, optimizer, batch, seed, skip_overflow), iterations):
        steps.append(step)
        progress(len(steps), step.loss)
    parameters = steps[-1].parameters if steps else network.initialise(seed)
    return TrainingLog(tuple(step.loss for step in steps), tuple(step.digest for step in steps), parameters)


def _packed(w: Arrays) -> FloatArray:
    return pack(w, {key: a.shape for key, a in w.items()})


def _finite(gradients: Parameters) -> bool:
    return all(np.isfinite(g).all() for layer in gradients.values() for g in layer.values())
