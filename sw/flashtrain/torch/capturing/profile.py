"""The offload profile of a recorded iteration (`flashtrain.training.offload.profile`)."""

from flashtrain.spec.update import WORD_BYTES
from flashtrain.torch.capturing.recording import RecordedOperation, RecordedSave, Recording
from flashtrain.torch.errors import CaptureError
from flashtrain.training.offload import Phase, Profile, ProfiledOperation, SavedTensor
from flashtrain.training.offload.processor import Processor
from flashtrain.training.optimizers import Optimizer


def captured_profile(
    recording: Recording, processor: Processor | None, optimizer: Optimizer | None
) -> Profile:
    """The profile; the durations are those of `processor`, or measured ones without it.

    Always in memory are parameters, as many bytes of gradients, buffers, workspace, and the float32 arrays
    that `optimizer` keeps. None: the dies keep them. A saved storage that the backward pass does not need
    stays in the graph until its end: the last operation stands for its use.
    """
    if processor is None and not recording.measured:
        raise CaptureError(f"{recording.model}: no durations were measured; expected a processor")
    saves = sorted(recording.saves, key=lambda save: save.made)
    last = len(recording.operations) - 1
    return Profile(
        model=recording.model,
        batch=recording.batch,
        operations=tuple(_operation(each, processor) for each in recording.operations),
        tensors=tuple(_tensor(save, last) for save in saves),
        resident_bytes=_resident_bytes(recording, optimizer),
        uncounted=recording.uncounted_shares,
    )


def _operation(operation: RecordedOperation, processor: Processor | None) -> ProfiledOperation:
    seconds = operation.seconds if processor is None else processor.seconds(operation.work)
    phase = Phase.BACKWARD if operation.backward else Phase.FORWARD
    return ProfiledOperation(operation.name, seconds or 0.0, phase)


def _tensor(save: RecordedSave, last: int) -> SavedTensor:
    return SavedTensor(
        name=save.name,
        bytes=save.bytes,
        made=save.made,
        uses=save.uses or (last,),
        released=save.released,
        element_bytes=save.element_bytes,
        relu=save.relu,
        ratios=save.ratios,
    )


def _resident_bytes(recording: Recording, optimizer: Optimizer | None) -> int:
    updated = [group for group in recording.parameters if group.updated]
    words = 0 if optimizer is None else len(optimizer.state_names) * sum(group.elements for group in updated)
    return (
        sum(group.bytes for group in recording.parameters)
        + sum(group.bytes for group in updated)
        + words * WORD_BYTES
        + recording.buffer_bytes
        + recording.workspace_bytes
    )
