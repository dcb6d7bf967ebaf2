"""The words of a training command sequence: tensors and steps."""

from dataclasses import dataclass
from enum import StrEnum

from flashtrain.spec.streams import Port
from flashtrain.training.arrays import ArraySpec


class StreamRole(StrEnum):
    """What a stream is for. The values are the names of the streams in `flashtrain.spec.streams`."""

    INPUTS = "inputs"
    ACTIVATIONS = "activations"
    WEIGHTS = "weights"
    TRAINED = "trained"


class Operation(StrEnum):
    """What a compute step does. What it takes and gives besides tensors is between it and its neighbours."""

    INITIALISE = "initialise"
    """Gives fresh weights and optimizer state of a layer."""
    LOAD = "load"
    """The host gives the next batch."""
    FORWARD = "forward"
    """A layer takes its weights and gives what its backward pass needs; its result goes on to the next."""
    LOSS = "loss"
    """Takes the labels; the gradient of the loss goes back to the last layer."""
    BACKWARD = "backward"
    """A layer takes its weights and what it saved; gradients go on to the layer before and to the update."""
    UPDATE = "update"
    """The optimizer takes weights and state of a layer and gives their next version."""
    PUBLISH = "publish"
    """Takes the weights of a layer and gives them as trained weights."""
    COLLECT = "collect"
    """The host takes the trained weights of a layer."""


LAYERLESS = (Operation.LOAD, Operation.LOSS)
"""The operations that belong to no layer."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of the sequence: its unique name, the stream that holds it, and its shape and dtype."""

    name: str
    stream: StreamRole
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

    `layer` is the name of the layer, or "" for the operations in `LAYERLESS`.
    """

    operation: Operation
    layer: str = ""
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()


Step = Append | Read | Reset | Compute


def uses(step: Step) -> tuple[str, ...]:
    """The tensors that the step needs in memory."""
    match step:
        case Append():
            return (step.tensor,)
        case Compute():
            return step.takes
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
