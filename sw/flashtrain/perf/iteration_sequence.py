"""A training whose iterations leave their activations in a fraction of a zone."""

from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import Port
from flashtrain.spec.update import Tile
from flashtrain.training.arrays import UINT8, ArraySpec
from flashtrain.training.optimizers import Adam
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    TrainingSequence,
    Update,
)
from flashtrain.training.sequence.check import CONSTANTS_SPEC

PROGRAM = OptimizerCode.ADAM
LAYERS = 4
FRACTION = 4
"""Iterations whose activations fill a zone."""
INPUT_FRACTION = 128
"""Iterations whose inputs fill a zone."""

_INPUT, _CONSTANTS = "input", "constants"


def iteration_sequence(
    config: FmsConfig,
    tile: Tile,
    tensors: int = LAYERS,
    zones: int = 1,
    overlap: bool = False,
    seconds: float = 0.0,
) -> TrainingSequence:
    """Tensors of equal size, whose parameters fill the tiles of zones, updated by the dies with Adam.

    Weights are read for both passes. Activations are appended in the forward pass, and read in reverse in the
    backward pass. Gradients and computing are made up.

    tensors: of weights, each with activations; by default one for each layer.

    overlap: the dies update a tensor as soon as it has its gradient. seconds: of computing in the backward
    pass.
    """
    g = config.geometry
    parameters = zones * g.pages * g.channels * g.dies * tile.parameters // tensors
    zone_bytes = g.zone_capacity * g.page_bytes
    layers = [str(number) for number in range(tensors)]
    constants = Compute(Operation.CONSTANTS, gives=(_CONSTANTS,))
    weights, gradients, activations = (
        {layer: f"{kind}/{layer}" for layer in layers} for kind in ("weights", "gradient", "activation")
    )

    def updated(*of: str) -> Update:
        return Update(tuple(weights[n] for n in of), tuple(gradients[n] for n in of), _CONSTANTS, Port.CORE)

    backward = {n: _backward(n, weights[n], activations[n], gradients[n], seconds / tensors) for n in layers}
    if overlap:
        of_layers = (step for n in reversed(layers) for step in (*backward[n], updated(n)))
        pass_and_update = [constants, *of_layers]
    else:
        pass_and_update = [*(s for n in reversed(layers) for s in backward[n]), constants, updated(*layers)]
    return TrainingSequence(
        network=f"quarter of a zone of {config.name}",
        optimizer=Adam().name,
        batch=1,
        tensors=(
            TensorInfo(_INPUT, StreamRole.INPUTS, _bytes(zone_bytes // INPUT_FRACTION)),
            *(TensorInfo(name, StreamRole.STATE, ArraySpec((parameters,))) for name in weights.values()),
            *(TensorInfo(name, None, ArraySpec((parameters,))) for name in gradients.values()),
            *(
                TensorInfo(name, StreamRole.ACTIVATIONS, _bytes(zone_bytes // (FRACTION * tensors)))
                for name in activations.values()
            ),
            TensorInfo(_CONSTANTS, None, CONSTANTS_SPEC),
        ),
        prologue=(
            *(Compute(Operation.INITIALISE, layer, gives=(weights[layer],)) for layer in layers),
            # In the order of their gradients, and so of their places on the dies.
            Initialise(tuple(weights.values())[:: -1 if overlap else 1], PROGRAM, Port.CORE),
        ),
        iteration=(
            Compute(Operation.LOAD, gives=(_INPUT,)),
            Append(_INPUT, Port.HOST),
            Read(_INPUT, Port.CORE),
            *(step for n in layers for step in _forward(n, weights[n], activations[n])),
            Compute(Operation.LOSS, takes=(_INPUT,)),
            *pass_and_update,
            Reset(StreamRole.ACTIVATIONS, Port.CORE),
        ),
        epilogue=(),
    )


def _bytes(count: int) -> ArraySpec:
    return ArraySpec((count,), UINT8)


def _forward(layer: str, weights: str, activation: str) -> list[Step]:
    return [
        Read(weights, Port.CORE),
        Compute(Operation.FORWARD, layer, (weights,), (activation,)),
        Append(activation, Port.CORE),
    ]


def _backward(layer: str, weights: str, activation: str, gradient: str, seconds: float) -> list[Step]:
    return [
        Read(activation, Port.CORE),
        Read(weights, Port.CORE),
        Compute(Operation.BACKWARD, layer, (activation, weights), (gradient,), seconds=seconds),
    ]
