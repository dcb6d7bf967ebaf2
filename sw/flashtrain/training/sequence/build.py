"""Making a training command sequence from a network, a batch size and an optimizer.

Everything the sequence names has its size from the shapes of the layers, so this runs before any training.
The placement is Behemoth's (FAST'21, "multi-stream support"): inputs from the host, activations in a
volatile stream, trained weights in a non-volatile one. Intermediate weights lie in a volatile stream, as
there, if the core updates them, and else in the streams of optimizer state.

Names of tensors: ``input/images``, ``input/labels``, ``activation/<layer>/<saved array>``,
``weights/<layer>``, ``gradient/<layer>``, ``trained/<layer>``; ``state/<layer>/<state array>`` if the core
updates, ``constants`` if the dies do. Weights, gradients, states and trained weights of a layer are one
packed vector each (`arrays.pack`). All its bytes move together, and few large tensors waste less of their
last block. Gradients and constants are never stored.
"""

from collections.abc import Sequence
from math import prod

from flashtrain.spec.streams import Port
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError
from flashtrain.training.layers import Layer
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.passes import stored_specs
from flashtrain.training.sequence.check import CONSTANTS_SPEC
from flashtrain.training.sequence.sequence import TrainingSequence
from flashtrain.training.sequence.steps import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
    UpdatePlace,
)

IMAGES = "input/images"
LABELS = "input/labels"
CONSTANTS = "constants"


def activation_name(layer: str, saved: str) -> str:
    return f"activation/{layer}/{saved}"


def weights_name(layer: str) -> str:
    return f"weights/{layer}"


def gradient_name(layer: str) -> str:
    return f"gradient/{layer}"


def state_name(layer: str, state: str) -> str:
    return f"state/{layer}/{state}"


def trained_name(layer: str) -> str:
    return f"trained/{layer}"


def training_sequence(
    network: Network,
    batch: int,
    optimizer: Optimizer,
    update: UpdatePlace = UpdatePlace.DIE,
    overlap: bool = False,
) -> TrainingSequence:
    """The sequence that appends every tensor as soon as it exists, and reads it when it is needed.

    Weights are read for the forward pass and again for the backward pass. Activations are appended in the
    forward pass and read in reverse in the backward pass. A reset of their stream drops them at the end of
    the iteration. The core updates a layer as soon as it has its gradient, the dies all layers at the end.

    overlap: the dies update each layer as soon as it has its gradient. The layers have their places on the
    dies in that order.
    """
    if overlap and update is not UpdatePlace.DIE:
        raise SequenceError("updates that overlap the backward pass are those of the dies; expected die")
    parts = [_LayerPart(name, layer, batch, network, optimizer, update) for name, layer in network.layers]
    trainable = [part for part in parts if part.weights]
    weights = tuple(name for part in trainable for name in part.weights)
    on_die = update is UpdatePlace.DIE and bool(weights)
    early = on_die and overlap
    placed = weights[::-1] if early else weights
    return TrainingSequence(
        network=network.name,
        optimizer=optimizer.name,
        batch=batch,
        tensors=(
            TensorInfo(IMAGES, StreamRole.INPUTS, network.input_spec(batch)),
            TensorInfo(LABELS, StreamRole.INPUTS, network.target_spec(batch)),
            *(tensor for part in parts for tensor in part.tensors()),
            *((TensorInfo(CONSTANTS, None, CONSTANTS_SPEC),) if on_die else ()),
        ),
        prologue=(
            *(step for part in trainable for step in part.initialise()),
            *((Initialise(placed, optimizer.code, Port.CORE),) if on_die else ()),
        ),
        iteration=(
            *_inputs(),
            *(step for part in parts for step in part.forward()),
            Compute(Operation.LOSS, takes=(LABELS,)),
            *(_CONSTANTS if early else ()),
            *(
                step
                for part in reversed(parts)
                for step in (*part.backward(), *(part.early() if early else ()))
            ),
            *((*_CONSTANTS, _update(trainable)) if on_die and not early else ()),
            Reset(StreamRole.ACTIVATIONS, Port.CORE),
        ),
        epilogue=tuple(step for part in trainable for step in part.publish()),
    )


def _inputs() -> list[Step]:
    names = (IMAGES, LABELS)
    return [
        Compute(Operation.LOAD, gives=names),
        *(Append(name, Port.HOST) for name in names),
        *(Read(name, Port.CORE) for name in names),
    ]


_CONSTANTS = (Compute(Operation.CONSTANTS, gives=(CONSTANTS,)),)


def _update(trainable: "Sequence[_LayerPart]") -> Update:
    """The update of these layers by the dies."""
    weights = tuple(name for part in trainable for name in part.weights)
    gradients = tuple(name for part in trainable for name in part.gradient)
    return Update(weights, gradients, CONSTANTS, Port.CORE)


class _LayerPart:
    """The steps and tensors of one layer."""

    def __init__(
        self, name: str, layer: Layer, batch: int, network: Network, optimizer: Optimizer, update: UpdatePlace
    ) -> None:
        self.name = name
        self.first = name == network.layers[0][0]
        self.saved = {
            activation_name(name, key): spec for key, spec in stored_specs(network, name, batch).items()
        }
        count = sum(prod(shape) for shape in layer.parameter_shapes().values())
        self.packed = ArraySpec((count,)) if count else None
        self.weights = (weights_name(name),) if count else ()
        self.gradient = (gradient_name(name),) if count else ()
        self.update = update
        by_core = count and update is UpdatePlace.CORE
        self.states = tuple(state_name(name, key) for key in optimizer.state_names) if by_core else ()

    def tensors(self) -> list[TensorInfo]:
        activations = [TensorInfo(name, StreamRole.ACTIVATIONS, spec) for name, spec in self.saved.items()]
        if self.packed is None:
            return activations
        role = StreamRole.STATE if self.update is UpdatePlace.DIE else StreamRole.WEIGHTS
        kept = [TensorInfo(name, role, self.packed) for name in (*self.weights, *self.states)]
        gradient = TensorInfo(gradient_name(self.name), None, self.packed)
        trained = TensorInfo(trained_name(self.name), StreamRole.TRAINED, self.packed)
        return [*activations, *kept, gradient, trained]

    def initialise(self) -> list[Step]:
        names = (*self.weights, *self.states)
        given = Compute(Operation.INITIALISE, self.name, gives=names)
        return [given] if self.update is UpdatePlace.DIE else [given, *_append(names)]

    def forward(self) -> list[Step]:
        takes = ((IMAGES,) if self.first else ()) + self.weights
        return [
            *_read(self.weights),
            Compute(Operation.FORWARD, self.name, takes, tuple(self.saved)),
            *_append(tuple(self.saved)),
        ]

    def backward(self) -> list[Step]:
        saved = tuple(reversed(self.saved))
        backward = [
            *_read(saved),
            *_read(self.weights),
            Compute(Operation.BACKWARD, self.name, saved + self.weights, self.gradient),
        ]
        if not self.weights or self.update is UpdatePlace.DIE:
            return backward
        names = (*self.weights, *self.states)
        update = Compute(Operation.UPDATE, self.name, takes=(*self.gradient, *names), gives=names)
        return [*backward, *_read(self.states), update, *_append(names)]

    def early(self) -> list[Step]:
        """The update by the dies as soon as the gradient is there."""
        return [_update([self])] if self.weights else []

    def publish(self) -> list[Step]:
        trained = trained_name(self.name)
        return [
            *_read(self.weights),
            Compute(Operation.PUBLISH, self.name, takes=self.weights, gives=(trained,)),
            Append(trained, Port.CORE),
            Read(trained, Port.HOST),
            Compute(Operation.COLLECT, self.name, takes=(trained,)),
        ]


def _append(names: tuple[str, ...]) -> list[Step]:
    return [Append(name, Port.CORE) for name in names]


def _read(names: tuple[str, ...]) -> list[Step]:
    return [Read(name, Port.CORE) for name in names]
