"""A network at any batch, from captures of two (`flashtrain.training.offload.network`)."""

from collections.abc import Sequence
from itertools import chain

import torch

from flashtrain.torch.capturing.recording import RecordedOperation, RecordedSave, Recording
from flashtrain.torch.errors import CaptureError
from flashtrain.training.offload import Phase
from flashtrain.training.offload.network import Kernel, Linear, Network, NetworkOperation, NetworkTensor


def captured_network(first: Recording, second: Recording) -> Network:
    """The network whose work and sizes at the batches of two recordings are those of the recordings.

    Raises `CaptureError` if the recordings differ in more than sizes, and `OffloadError` if a size is not
    linear in the batch.
    """
    batches = first.batch, second.batch
    if batches[0] == batches[1]:
        raise CaptureError(f"{first.model}: two captures of batch {first.batch}; expected different batches")
    if _shape(first) != _shape(second):
        raise CaptureError(
            f"{first.model}: operations or saved storages differ between batches {first.batch} and"
            f" {second.batch}; expected that only sizes do"
        )
    saves = sorted(zip(first.saves, second.saves, strict=True), key=lambda pair: pair[0].made)
    last = len(first.operations) - 1
    resident = _resident_bytes(first), _resident_bytes(second)
    return Network(
        model=first.model,
        source=f"torch {torch.__version__}",
        parameters=first.parameter_count,
        resident=Linear.through(batches, resident, f"{first.model}: resident bytes"),
        operations=tuple(
            _operation(batches, *pair) for pair in zip(first.operations, second.operations, strict=True)
        ),
        tensors=tuple(_tensor(batches, *pair, last) for pair in saves),
    )


def _shape(recording: Recording) -> tuple[object, ...]:
    """All but the sizes."""
    operations = ((each.name, each.backward, len(each.work)) for each in recording.operations)
    saves = ((s.made, s.released, s.uses, s.element_bytes, s.relu) for s in recording.saves)
    return (recording.parameters, *chain(operations, saves))


def _resident_bytes(recording: Recording) -> int:
    return recording.buffer_bytes + recording.workspace_bytes


def _operation(
    batches: tuple[int, int], first: RecordedOperation, second: RecordedOperation
) -> NetworkOperation:
    def linear(values: Sequence[float]) -> Linear:
        return Linear.through(batches, (int(values[0]), int(values[1])), f"operation {first.name}")

    kernels = (
        Kernel(linear((one.flops, two.flops)), linear((one.bytes, two.bytes)))
        for one, two in zip(first.work, second.work, strict=True)
    )
    return NetworkOperation(first.name, Phase.BACKWARD if first.backward else Phase.FORWARD, tuple(kernels))


def _tensor(batches: tuple[int, int], first: RecordedSave, second: RecordedSave, last: int) -> NetworkTensor:
    return NetworkTensor(
        name=first.name,
        bytes=Linear.through(batches, (first.bytes, second.bytes), f"tensor {first.name}"),
        made=first.made,
        released=first.released,
        uses=first.uses or (last,),
        element_bytes=first.element_bytes,
        relu=first.relu,
    )
