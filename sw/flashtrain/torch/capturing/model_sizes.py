"""Sizes of networks for checkpoints and memory (`checkpoint.models.model_file`), on the meta device."""

from collections.abc import Iterable
from importlib.metadata import version

import torch
from torch import nn

from flashtrain.checkpoint.models.model_file import CapturedModels, ModelSizes
from flashtrain.torch.capturing.capture import capture
from flashtrain.torch.capturing.network import captured_network
from flashtrain.torch.capturing.recording import Recording
from flashtrain.torch.errors import CaptureError
from flashtrain.torch.networks import build
from flashtrain.training.offload.network import Linear

BATCHES = (128, 256)
"""The captures that determine all sizes. Below 100 the largest operation of AlexNet is one on its weights."""

PACKAGES = ("torch", "torchvision", "transformers")


def captured_models(names: Iterable[str]) -> CapturedModels:
    """The networks of `flashtrain.torch.networks` with these names.

    Raises `MissingExtra` without the packages that define them.
    """
    models = tuple(map(model_sizes, names))
    return CapturedModels(", ".join(f"{each} {version(each).partition('+')[0]}" for each in PACKAGES), models)


def model_sizes(name: str) -> ModelSizes:
    """The sizes of one network. Raises `CaptureError` if its FLOPs are not proportional to the batch."""
    with torch.device("meta"):
        cases = [build(name, batch) for batch in BATCHES]
    recordings = [
        capture(*case, name=name, batch=batch).recording for case, batch in zip(cases, BATCHES, strict=True)
    ]
    network = captured_network(*recordings)
    buffer_bytes = _persistent_buffer_bytes(cases[0].model)
    saved = Linear(sum(t.bytes.fixed for t in network.tensors), sum(t.bytes.each for t in network.tensors))
    return ModelSizes(
        name=name,
        parameters=network.parameters,
        tensors=sum(1 for _ in cases[0].model.parameters()),
        buffer_bytes=buffer_bytes,
        flops_per_example=_flops_per_example(recordings),
        saved=saved,
        workspace=Linear(network.resident.fixed - buffer_bytes, network.resident.each),
    )


def _persistent_buffer_bytes(model: nn.Module) -> int:
    """Bytes of the state dictionary that are no parameters."""
    parameters = {id(parameter) for parameter in model.parameters()}
    kept = {id(tensor): tensor for tensor in model.state_dict(keep_vars=True).values()}
    return sum(t.numel() * t.element_size() for key, t in kept.items() if key not in parameters)


def _flops_per_example(recordings: Iterable[Recording]) -> int:
    rates = {divmod(recording.flops, recording.batch) for recording in recordings}
    if len(rates) != 1 or (rate := rates.pop())[1]:
        raise CaptureError(f"FLOPs of batches {BATCHES} are {rates}; expected a multiple of the batch")
    return rate[0]
