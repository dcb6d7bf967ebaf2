"""The machine that trains a network while a training command sequence is played."""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from flashtrain.training.arrays import Arrays, FloatArray, pack, unpack
from flashtrain.training.data import Dataset
from flashtrain.training.errors import SequenceError
from flashtrain.training.layers import Draw
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.passes import backward_layer, forward_layer, next_running
from flashtrain.training.reference import TrainingLog, WeightsDigest
from flashtrain.training.resumed_run import position_of, resumed_running, resumed_steps
from flashtrain.training.run_identity import RunIdentity
from flashtrain.training.run_position import RunPosition
from flashtrain.training.sequence import (
    Compute,
    Initialise,
    Operation,
    TrainingSequence,
    Update,
    training_sequence,
)
from flashtrain.training.sequence.build import (
    CONSTANTS,
    IMAGES,
    LABELS,
    activation_name,
    gradient_name,
    state_name,
    trained_name,
    weights_name,
)
from flashtrain.training.sequence.sequence import PHASES
from flashtrain.training.step_policy import StepPolicy, first_steps, squares_of


class NetworkMachine:
    """Trains `network` as `reference.train_reference` does, one step of the sequence at a time.

    Between steps it keeps a single array of the network, the one on its way between two layers. That is an
    activation in the forward pass and a gradient in the backward pass. It takes a digest of the
    weights of each iteration.
    """

    def __init__(
        self,
        network: Network,
        data: Dataset,
        optimizer: Optimizer,
        batch: int,
        seed: int,
        progress: Callable[[int, float], None],
        position: RunPosition = RunPosition(),
        policy: StepPolicy = StepPolicy(),
        on_running: Callable[[int, Parameters], None] = lambda iteration, running: None,
        overlap: bool = False,
    ) -> None:
        self._network = network
        self._optimizer = optimizer
        self._seed = seed
        self._run = RunIdentity.of(network, optimizer, batch, seed, policy, overlap)
        self._before = position.iterations
        self._batches = islice(data.batches(batch, seed), self._before, None)
        self._initial = network.initialise(seed)
        self._progress = progress
        self._passing: FloatArray = np.empty(0, np.float32)
        self._digest = WeightsDigest()
        self._digests: list[str] = []
        self._steps = resumed_steps(first_steps(optimizer, policy), position)
        self._squares = 0.0
        self._running = resumed_running(network, position)
        self._saved: dict[str, Arrays] = {}
        self._on_running = on_running
        self._losses: list[float] = []
        self._trained: Parameters = {}
        self._operations = {
            Operation.INITIALISE: self._initialise,
            Operation.LOAD: self._load,
            Operation.FORWARD: self._forward,
            Operation.LOSS: self._loss,
            Operation.BACKWARD: self._backward,
            Operation.CONSTANTS: self._constants,
            Operation.UPDATE: self._update,
            Operation.PUBLISH: self._publish,
            Operation.COLLECT: self._collect,
        }

    def compute(self, step: Compute, tensors: Arrays) -> Arrays:
        return self._operations[step.operation](step.layer, tensors)

    def updated(self, steps: Sequence[Update], committed: bool) -> None:
        self._steps.observe(committed)

    def position(self) -> RunPosition:
        """The position after a commit of the update under way."""
        return position_of(self._run, self._iterations, self._steps.after_commit(), self._running)

    def log(self) -> TrainingLog:
        """Losses and weights so far, and the trained weights that the host has collected, in the order of the
        layers."""
        names = [name for name, _ in self._network.layers if name in self._trained]
        trained = {name: self._trained[name] for name in names}
        return TrainingLog(tuple(self._losses), tuple(self._digests), trained, self._running)

    @property
    def _iterations(self) -> int:
        """Iterations whose loss is known."""
        return self._before + len(self._losses)

    def _initialise(self, layer: str, tensors: Arrays) -> Arrays:
        w = pack(self._initial.pop(layer), self._network.layer(layer).parameter_shapes())
        return {weights_name(layer): w, **self._states(layer, self._optimizer.initial_state(w))}

    def _load(self, layer: str, tensors: Arrays) -> Arrays:
        examples = next(self._batches)
        return {IMAGES: examples.inputs, LABELS: examples.targets}

    def _forward(self, layer: str, tensors: Arrays) -> Arrays:
        x = tensors.get(IMAGES, self._passing)
        if weights_name(layer) in tensors:
            self._digest.add(tensors[weights_name(layer)])
        draw = Draw(self._seed, self._iterations)
        parameters = self._parameters(layer, tensors)
        self._passing, saved = forward_layer(self._network, layer, parameters, x, draw)
        if layer in self._running:
            self._saved[layer] = saved
        return {activation_name(layer, key): array for key, array in saved.items()}

    def _loss(self, layer: str, tensors: Arrays) -> Arrays:
        loss, gradient = self._network.loss.value(self._passing, tensors[LABELS])
        self._passing, self._squares = self._steps.scaled(gradient), 0.0
        self._running, self._saved = next_running(self._network, self._running, self._saved), {}
        self._losses.append(loss)
        self._digests.append(self._digest.take())
        self._progress(self._iterations, loss)
        self._on_running(self._iterations, self._running)
        return {}

    def _backward(self, layer: str, tensors: Arrays) -> Arrays:
        prefix = activation_name(layer, "")
        saved = {key.removeprefix(prefix): a for key, a in tensors.items() if key.startswith(prefix)}
        parameters, draw = self._parameters(layer, tensors), Draw(self._seed, self._iterations - 1)
        self._passing, gradients = backward_layer(
            self._network, layer, parameters, saved, self._passing, draw
        )
        if not gradients:
            return {}
        packed = pack(gradients, self._network.layer(layer).parameter_shapes())
        self._squares += squares_of(packed)
        return {gradient_name(layer): packed}

    def _constants(self, layer: str, tensors: Arrays) -> Arrays:
        words = self._steps.constants(self._iterations - 1, self._squares).words
        return {CONSTANTS: np.array(words, np.uint32).view(np.float32)}

    def _update(self, layer: str, tensors: Arrays) -> Arrays:
        state = {key: tensors[state_name(layer, key)] for key in self._optimizer.state_names}
        w, g = tensors[weights_name(layer)], tensors[gradient_name(layer)]
        optimizer = self._steps.optimizer_of(self._iterations - 1)
        w, state = optimizer.step(w, g, state, self._iterations, self._steps.scale.unscale)
        return {weights_name(layer): w, **self._states(layer, state)}

    def _publish(self, layer: str, tensors: Arrays) -> Arrays:
        return {trained_name(layer): tensors[weights_name(layer)]}

    def _collect(self, layer: str, tensors: Arrays) -> Arrays:
        self._trained[layer] = unpack(
            tensors[trained_name(layer)], self._network.layer(layer).parameter_shapes()
        )
        return {}

    def _parameters(self, layer: str, tensors: Arrays) -> Arrays:
        shapes = self._network.layer(layer).parameter_shapes()
        return unpack(tensors[weights_name(layer)], shapes) if shapes else {}

    def _states(self, layer: str, state: Arrays) -> Arrays:
        return {state_name(layer, key): array for key, array in state.items()}


def check_fits(sequence: TrainingSequence, network: Network, batch: int, optimizer: Optimizer) -> None:
    """Raise `SequenceError` unless `sequence` computes, in this order, what training `network` takes.

    When tensors are stored and read, and whether they are at all, is the sequence's own business.
    """
    fitting = training_sequence(network, batch, optimizer, sequence.update, sequence.overlaps)
    for field in ("network", "optimizer", "batch"):
        expected, got = getattr(fitting, field), getattr(sequence, field)
        if expected != got:
            raise SequenceError(f"{field}: the sequence is for {got}, expected {expected}")
    for name, tensor in sequence.by_name.items():
        if name not in fitting.by_name:
            raise SequenceError(f"tensors: {network.name} has no tensor {name}")
        if tensor.spec != fitting.by_name[name].spec:
            raise SequenceError(f"tensors: {name} is {tensor.spec}, expected {fitting.by_name[name].spec}")
    for phase in PHASES:
        expected, got = _computes(fitting, phase), _computes(sequence, phase)
        for index, (one, other) in enumerate(zip(expected, got, strict=False)):
            if one != other:
                raise SequenceError(f"{phase}: compute step {index} is {_say(other)}, expected {_say(one)}")
        if len(expected) != len(got):
            raise SequenceError(f"{phase}: {len(got)} compute steps, expected {len(expected)}")


def _computes(sequence: TrainingSequence, phase: str) -> list[Compute | Initialise | Update]:
    return [step for step in getattr(sequence, phase) if isinstance(step, Compute | Initialise | Update)]


def _say(step: Compute | Initialise | Update) -> str:
    match step:
        case Compute():
            return f"{step.operation} {step.layer} taking {list(step.takes)} and giving {list(step.gives)}"
        case Initialise():
            return f"initialise {list(step.tensors)} for {step.program.name}"
        case Update():
            return f"update {list(step.tensors)} by {list(step.gradients)} with {step.constants}"
