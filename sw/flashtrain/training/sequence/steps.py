"""The words of a training command sequence: tensors and steps."""

from dataclasses import dataclass
from enum import StrEnum

from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE, NodeTable, Port
from flashtrain.training.arrays import ArraySpec


class UpdatePlace(StrEnum):
    """The place where the weights are updated."""

    DIE = "die"
    """The dies, where weights and optimizer state stay: gradients go in."""
    CORE = "core"
    """The core: it reads weights and optimizer state, and appends the new ones."""

    @property
    def node(self) -> NodeTable:
        """A node with the streams that this takes."""
        return UPDATE_NODE if self is UpdatePlace.DIE else SINGLE_NODE


class StreamRole(StrEnum):
    """The role of a stream."""

    INPUTS = "inputs"
    ACTIVATIONS = "activations"
    WEIGHTS = "weights"
    STATE = "state"
    """Weights and optimizer state that the dies update: two streams, which hold their generations in turn."""
    TRAINED = "trained"

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of its streams in `flashtrain.spec.streams`."""
        return STATE_STREAMS if self is StreamRole.STATE else (self.value,)


class Operation(StrEnum):
    """The operation of a compute step. Neighbouring steps also exchange data that is no tensor."""

    INITIALISE = "initialise"
    """Gives fresh weights of a layer, and optimizer state if the core updates it."""
    LOAD = "load"
    """The host gives the next batch."""
    FORWARD = "forward"
    """A layer takes its weights and gives what its backward pass needs; its result goes on to the next."""
    LOSS = "loss"
    """Takes the labels; the gradient of the loss goes back to the last layer."""
    BACKWARD = "backward"
    """A layer takes its weights and what it saved, and gives its gradient; another goes on to the layer
    before."""
    CLEAR = "clear"
    """Gives the gradient of a layer, zeros, to which the backward passes of several micro-batches add."""
    CONSTANTS = "constants"
    """Gives the constants of the next step of the optimizer."""
    UPDATE = "update"
    """The optimizer takes gradient, weights and state of a layer and gives the next version of these."""
    PUBLISH = "publish"
    """Takes the weights of a layer and gives them as trained weights."""
    COLLECT = "collect"
    """The host takes the trained weights of a layer."""


LAYERLESS = (Operation.LOAD, Operation.LOSS, Operation.CONSTANTS)
"""The operations that belong to no layer."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of the sequence: its unique name, its shape and dtype, and the stream that holds it, if it is
    stored at all.

    A tensor of the state stream is weights; with them the state that the optimizer has for them is stored.
    """

    name: str
    stream: StreamRole | None
    spec: ArraySpec


@dataclass(frozen=True)
class Append:
    """`port` appends the tensor to its stream. An earlier version of it, if there is one, is superseded."""

    tensor: str
    port: Port


@dataclass(frozen=True)
class Read:
    """`port` reads the current version of the tensor."""

    tensor: str
    port: Port


@dataclass(frozen=True)
class Reset:
    """`port` resets the stream: all its tensors are gone."""

    stream: StreamRole
    port: Port


@dataclass(frozen=True)
class Compute:
    """An operation on the tensors it `takes` from memory, which leaves those it `gives` there.

    `layer` is the name of the layer, or "" for the operations in `LAYERLESS`. The step takes `seconds`, and
    beside them the time that its processor needs for `flops` floating-point operations.
    """

    operation: Operation
    layer: str = ""
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    flops: int = 0
    seconds: float = 0.0

    def duration(self, flops_per_second: float) -> float:
        """Seconds on a processor of this rate."""
        return self.seconds + self.flops / flops_per_second


@dataclass(frozen=True)
class Initialise:
    """`port` stores these weights as the first generation of the state stream, with state that is zeros.

    `program` is what updates will run.
    """

    tensors: tuple[str, ...]
    program: OptimizerCode
    port: Port


@dataclass(frozen=True)
class Update:
    """`port` has the dies update `tensors` of the state stream by one gradient for each.

    `constants` are float32 words, as `flashtrain.numerics.Constants` has them. An update of some tensors is
    part of one: others with the same constants follow, until all of the stream are updated. Then the next
    generation becomes current, unless a gradient has a NaN or an infinity: then the step is skipped, and
    nothing changes. Until then reads give the current generation.
    """

    tensors: tuple[str, ...]
    gradients: tuple[str, ...]
    constants: str
    port: Port


@dataclass(frozen=True)
class Index:
    """An index of loops, from 0 to `count` - 1. `{name}` in other names stands for its value."""

    name: str
    count: int


@dataclass(frozen=True)
class Repeat:
    """The steps for each value of the index `over`, in order, or in reverse with `down`."""

    over: str
    steps: "tuple[Step, ...]"
    down: bool = False


Step = Append | Read | Reset | Compute | Initialise | Update | Repeat


def processor_of(operation: Operation) -> Port:
    """The port whose processor carries out the operation: its memory is apart from the other's."""
    return Port.HOST if operation in (Operation.LOAD, Operation.COLLECT) else Port.CORE


def uses(step: Step) -> tuple[str, ...]:
    """The tensors that the step needs in memory."""
    match step:
        case Append():
            return (step.tensor,)
        case Compute():
            return step.takes
        case Initialise():
            return step.tensors
        case Update():
            return (*step.gradients, step.constants)
        case _:
            return ()


def defines(step: Step) -> tuple[str, ...]:
    """The tensors that the step brings into memory."""
    match step:
        case Read():
            return (step.tensor,)
        case Compute():
            return step.gives
        case _:
            return ()
