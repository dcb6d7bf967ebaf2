"""The training run that is cut, and its expected weights and state after each step."""

from dataclasses import dataclass
from itertools import islice

from flashtrain.host import TensorGroup
from flashtrain.numerics import Constants
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.optimizer import Input
from flashtrain.spec.streams import UPDATE_NODE, Codec
from flashtrain.training.arithmetic import one_thread
from flashtrain.training.arrays import Array, FloatArray, pack
from flashtrain.training.data import Dataset
from flashtrain.training.layers.loss import softmax_cross_entropy
from flashtrain.training.networks import Network, Parameters, mlp
from flashtrain.training.optimizers import Adam, Optimizer
from flashtrain.training.reference import backward, forward, reference_steps

STATE = {"m": Input.M, "v": Input.V}


LOSSLESS = Codec.WINDOW32
"""Of the streams that may have a codec: their tensors are FP32, and return with all their bits."""


def node_of(config: FmsConfig) -> NodeTable:
    """The streams of a training run on a device of `config`; with a codec if it has one.

    The dies update the optimizer's state as it is, without a codec.
    """
    if not config.codec:
        return UPDATE_NODE
    return UPDATE_NODE.with_codecs(inputs=LOSSLESS, activations=LOSSLESS, trained=LOSSLESS, weights=LOSSLESS)


@dataclass(frozen=True)
class Workload:
    """A network that fits a small device, and how it is trained."""

    seed: int
    iterations: int
    network: Network = mlp(hidden=8)
    optimizer: Optimizer = Adam()
    batch: int = 4


@dataclass(frozen=True)
class _Point:
    parameters: Parameters
    states: dict[str, dict[str, Array]]


class Expected:
    """Weights and optimizer state before the first step of `workload`, and after each, by plain NumPy.

    A vector is of one layer, packed; they come in the order in which the device has them.
    """

    def __init__(self, workload: Workload, data: Dataset) -> None:
        self._workload = workload
        first = workload.network.initialise(workload.seed)
        none = {name: workload.optimizer.initial_state(_packed(w)) for name, w in first.items()}
        steps = reference_steps(workload.network, data, workload.optimizer, workload.batch, workload.seed)
        self._points = [_Point(first, none)]
        self._points += [_Point(s.parameters, s.states) for s in islice(steps, workload.iterations + 1)]
        self._batches = list(islice(data.batches(workload.batch, workload.seed), workload.iterations + 1))

    @property
    def group(self) -> TensorGroup:
        """The tensors that the dies hold."""
        sizes = [(len(w),) for w in self.vectors(Input.W, 0)]
        return TensorGroup(self._workload.optimizer.code, tuple(sizes))

    @property
    def inputs(self) -> list[Input]:
        return [Input.W, *(STATE[name] for name in self._workload.optimizer.state_names)]

    def vectors(self, which: Input, steps: int) -> list[FloatArray]:
        """Weights or state of all layers after so many steps."""
        point = self._points[steps]
        if which is Input.W:
            return [_packed(w) for w in point.parameters.values()]
        name = next(name for name, one in STATE.items() if one is which)
        return [point.states[layer][name] for layer in point.parameters]

    def gradients(self, steps: int) -> list[FloatArray]:
        """Gradients of all layers for the step after `steps` others."""
        parameters, examples = self._points[steps].parameters, self._batches[steps]
        with one_thread():
            logits, saved = forward(self._workload.network, parameters, examples.inputs)
            _, dy = softmax_cross_entropy(logits, examples.targets)
            _, gradients = backward(self._workload.network, parameters, saved, dy)
        return [_packed(gradients[layer]) for layer in parameters]

    def constants(self, steps: int) -> Constants:
        """Constants of the step after `steps` others."""
        return self._workload.optimizer.constants(steps + 1)


def _packed(w: dict[str, Array]) -> FloatArray:
    return pack(w, {name: array.shape for name, array in w.items()})
