"""Training in plain NumPy, all tensors in memory: what training through the flash must equal, bit for bit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice

import numpy as np

from flashtrain.numerics import Constants, update
from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Array, Arrays, FloatArray, pack, unpack
from flashtrain.training.data import Dataset
from flashtrain.training.layers import Draw
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.optimizers import Optimizer, State
from flashtrain.training.passes import backward_layer, forward_layer, next_running
from flashtrain.training.step_policy import StepPolicy, first_steps, squares_of


@dataclass(frozen=True)
class TrainingLog:
    """Losses, digests and result of a run.

    For each iteration it has the loss of the batch, and a digest of the weights at its start. `parameters`
    are the weights after the last iteration, `running` the running arrays.
    """

    losses: tuple[float, ...]
    digests: tuple[str, ...]
    parameters: Parameters
    running: Parameters = field(default_factory=dict)

    def equals(self, other: "TrainingLog") -> bool:
        """Whether both runs agree in every bit of every loss and, in every iteration, of every weight."""
        same_losses = np.array(self.losses).tobytes() == np.array(other.losses).tobytes()
        same_digests = self.digests == other.digests
        same_running = bits_equal(self.running, other.running)
        return same_losses and same_digests and same_running and bits_equal(self.parameters, other.parameters)


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


def forward(
    network: Network, parameters: Parameters, x: Array, draw: Draw = Draw()
) -> tuple[FloatArray, dict[str, Arrays]]:
    """Forward pass of a whole network: its output, and what each layer saved."""
    saved = {}
    for name, _ in network.layers:
        x, saved[name] = forward_layer(network, name, parameters.get(name, {}), x, draw)
    return x, saved


def backward(
    network: Network, parameters: Parameters, saved: dict[str, Arrays], dy: FloatArray, draw: Draw = Draw()
) -> tuple[FloatArray, Parameters]:
    """Backward pass of a whole network: gradient by its input, and by every parameter."""
    gradients = {}
    for name, _ in reversed(network.layers):
        dy, gradients[name] = backward_layer(network, name, parameters.get(name, {}), saved[name], dy, draw)
    return dy, gradients


def update_layer(constants: Constants, w: Arrays, g: Arrays, state: State) -> tuple[Arrays, State]:
    """A step with these constants on all parameters of a layer; `state` is packed as `arrays.pack` packs."""
    shapes = {name: array.shape for name, array in w.items()}
    after = update(constants, pack(g, shapes), pack(w, shapes), state.get("m"), state.get("v"))
    arrays = {"m": after.m, "v": after.v}
    return unpack(after.w, shapes), {name: array for name, array in arrays.items() if array is not None}


@dataclass(frozen=True)
class ReferenceStep:
    """One iteration: its loss, a digest of the weights that it began with, and those that it ended with; the
    optimizer's state for each layer is packed as `arrays.pack` packs its weights."""

    loss: float
    digest: str
    parameters: Parameters
    states: dict[str, State]
    running: Parameters = field(default_factory=dict)


def reference_steps(
    network: Network,
    data: Dataset,
    optimizer: Optimizer,
    batch: int,
    seed: int,
    skip_overflow: bool = True,
    policy: StepPolicy = StepPolicy(),
) -> Iterator[ReferenceStep]:
    """Train `network` without end; see :func:`train_reference`."""
    parameters, running = network.initialise(seed), network.first_running()
    states = {name: optimizer.initial_state(_packed(w)) for name, w in parameters.items()}
    digest, steps = WeightsDigest(), first_steps(optimizer, policy)
    for iteration, examples in enumerate(data.batches(batch, seed)):
        for w in parameters.values():
            digest.add(_packed(w))
        draw = Draw(seed, iteration)
        with one_thread():
            outputs, saved = forward(network, parameters, examples.inputs, draw)
            loss, dy = network.loss.value(outputs, examples.targets)
            running = next_running(network, running, saved)
            _, gradients = backward(network, parameters, saved, steps.scaled(dy), draw)
            if committed := not skip_overflow or _finite(gradients):
                packed = [
                    pack(g, network.layer(n).parameter_shapes())
                    for n, g in gradients.items()
                    if n in parameters
                ]
                constants = steps.constants(iteration, sum(map(squares_of, packed)))
                updated = {
                    name: update_layer(constants, w, gradients[name], states[name])
                    for name, w in parameters.items()
                }
                parameters = {name: w for name, (w, _) in updated.items()}
                states = {name: state for name, (_, state) in updated.items()}
            steps.observe(committed)
        yield ReferenceStep(loss, digest.take(), parameters, states, running)


def train_reference(
    network: Network,
    data: Dataset,
    optimizer: Optimizer,
    batch: int,
    iterations: int,
    seed: int,
    progress: Callable[[int, float], None] = lambda iteration, loss: None,
    skip_overflow: bool = True,
    policy: StepPolicy = StepPolicy(),
) -> TrainingLog:
    """Train `network` from weights, batches and dropped elements that follow from `seed`.

    `progress` is called after each iteration with its number, from 1, and its loss. A step whose gradients
    have a NaN or an infinity is skipped, as it is when the dies update; not with `skip_overflow=False`.
    """
    steps = []
    run = reference_steps(network, data, optimizer, batch, seed, skip_overflow, policy)
    for step in islice(run, iterations):
        steps.append(step)
        progress(len(steps), step.loss)
    losses, digests = tuple(step.loss for step in steps), tuple(step.digest for step in steps)
    if not steps:
        return TrainingLog(losses, digests, network.initialise(seed), network.first_running())
    return TrainingLog(losses, digests, steps[-1].parameters, steps[-1].running)


def _packed(w: Arrays) -> FloatArray:
    return pack(w, {key: a.shape for key, a in w.items()})


def _finite(gradients: Parameters) -> bool:
    return all(np.isfinite(g).all() for layer in gradients.values() for g in layer.values())
