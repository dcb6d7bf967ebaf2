"""The training command sequence of a workload: loops over its layers and micro-batches."""

from dataclasses import dataclass

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.workloads.workload import Workload
from flashtrain.spec.streams import Port
from flashtrain.training.arrays import UINT8, ArraySpec
from flashtrain.training.sequence import (
    Append,
    Compute,
    Index,
    Operation,
    Read,
    Repeat,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    TrainingSequence,
)

LAYER, MICRO_BATCH, PIECE = "layer", "micro_batch", "piece"
TOKENS = "input/tokens"
WEIGHTS = "weights/{layer}"
STATE = "state/{layer}/{piece}"
GRADIENT = "gradient/{layer}"
ACTIVATION = "activation/{layer}/{micro_batch}"


@dataclass(frozen=True)
class TrafficChoices:
    """Choices that the slides leave open.

    - `state_bytes_per_parameter`: optimizer state beside the weights, which the update reads and appends. The
      published bytes of weights leave no space for it; Adam with float32 weights would have 12. It moves in
      as many pieces, since its update goes element by element.
    - `input_bytes`: tokens and labels of an iteration, far fewer than all else.
    """

    state_bytes_per_parameter: int = 0
    input_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        if self.state_bytes_per_parameter < 0:
            got = self.state_bytes_per_parameter
            raise PlatformError(f"state_bytes_per_parameter is {got}; expected at least 0")
        if self.input_bytes < 1:
            raise PlatformError(f"input_bytes is {self.input_bytes}; expected at least 1")


def workload_sequence(workload: Workload, choices: TrafficChoices | None = None) -> TrainingSequence:
    """One iteration layer by layer: each layer has its weights for all micro-batches.

    Weights are read for both passes. Activations are appended in the forward pass and read in reverse in the
    backward pass. The gradient of a layer is the sum over its micro-batches; then the layer is updated, and
    its new weights are appended. Tensors are of bytes, whatever the format of their numbers.
    """
    choices = choices or TrafficChoices()
    pieces = choices.state_bytes_per_parameter
    initialise = Compute(Operation.INITIALISE, "{layer}", gives=(WEIGHTS,))
    state = Compute(Operation.INITIALISE, "{layer}", gives=(STATE,))
    return TrainingSequence(
        network=workload.name,
        optimizer="any" if pieces else "sgd",
        batch=workload.micro_batches,
        tensors=(
            _bytes(TOKENS, StreamRole.INPUTS, choices.input_bytes),
            _bytes(WEIGHTS, StreamRole.WEIGHTS, workload.weight_bytes),
            *((_bytes(STATE, StreamRole.WEIGHTS, workload.parameters),) if pieces else ()),
            _bytes(GRADIENT, None, workload.weight_bytes),
            _bytes(ACTIVATION, StreamRole.ACTIVATIONS, workload.stored_activation_bytes),
        ),
        prologue=(
            Repeat(
                LAYER,
                (
                    initialise,
                    Append(WEIGHTS, Port.CORE),
                    *((Repeat(PIECE, (state, Append(STATE, Port.CORE))),) if pieces else ()),
                ),
            ),
        ),
        iteration=(
            Compute(Operation.LOAD, gives=(TOKENS,)),
            Append(TOKENS, Port.HOST),
            Read(TOKENS, Port.CORE),
            Repeat(LAYER, tuple(_forward(workload))),
            Compute(Operation.LOSS, takes=(TOKENS,)),
            Repeat(LAYER, tuple(_backward(workload, pieces)), down=True),
            Reset(StreamRole.ACTIVATIONS, Port.CORE),
        ),
        epilogue=(),
        indices=(
            Index(LAYER, workload.layers),
            Index(MICRO_BATCH, workload.micro_batches),
            *((Index(PIECE, pieces),) if pieces else ()),
        ),
    )


def _bytes(name: str, stream: StreamRole | None, count: int) -> TensorInfo:
    return TensorInfo(name, stream, ArraySpec((count,), UINT8))


def _forward(workload: Workload) -> list[Step]:
    flops = max(1, workload.flops // (3 * workload.micro_batches))
    forward = Compute(Operation.FORWARD, "{layer}", (WEIGHTS,), (ACTIVATION,), flops)
    return [Read(WEIGHTS, Port.CORE), Repeat(MICRO_BATCH, (forward, Append(ACTIVATION, Port.CORE)))]


def _backward(workload: Workload, pieces: int) -> list[Step]:
    flops = max(1, 2 * workload.flops // (3 * workload.micro_batches))
    takes = (ACTIVATION, WEIGHTS, GRADIENT)
    backward = Compute(Operation.BACKWARD, "{layer}", takes, (GRADIENT,), flops)
    state = Compute(Operation.UPDATE, "{layer}", (GRADIENT, STATE), (STATE,))
    return [
        Read(WEIGHTS, Port.CORE),
        Compute(Operation.CLEAR, "{layer}", gives=(GRADIENT,)),
        Repeat(MICRO_BATCH, (Read(ACTIVATION, Port.CORE), backward), down=True),
        *((Repeat(PIECE, (Read(STATE, Port.CORE), state, Append(STATE, Port.CORE))),) if pieces else ()),
        Compute(Operation.UPDATE, "{layer}", (GRADIENT, WEIGHTS), (WEIGHTS,)),
        Append(WEIGHTS, Port.CORE),
    ]
