"""Capture of a model of PyTorch: the entry."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from flashtrain.torch.capturing.fake_tensors import FakeTensors
from flashtrain.torch.capturing.iteration import Subject, record
from flashtrain.torch.capturing.profile import captured_profile
from flashtrain.torch.capturing.recording import Recording
from flashtrain.torch.capturing.sequence import captured_sequence
from flashtrain.torch.errors import CaptureError
from flashtrain.training.offload import Profile
from flashtrain.training.offload.processor import Processor
from flashtrain.training.optimizers import Adam, Optimizer
from flashtrain.training.sequence import TrainingSequence, UpdatePlace


@dataclass(frozen=True)
class Capture:
    """A captured iteration.

    - `recording`: its operations, saved storages and parameters.
    """

    recording: Recording

    def sequence(
        self,
        optimizer: Optimizer | None = None,
        update: UpdatePlace = UpdatePlace.DIE,
        processor: Processor | None = None,
        overlap: bool = False,
    ) -> TrainingSequence:
        """The training command sequence of the iteration (`capturing.sequence`), with Adam by default."""
        return captured_sequence(self.recording, optimizer or Adam(), update, processor, overlap)

    def profile(self, processor: Processor | None = None, optimizer: Optimizer | None = None) -> Profile:
        """The offload profile of the iteration (`capturing.profile`).

        The durations are those of `processor`, or measured. The dies keep the state of the optimizer; with
        an `optimizer` the memory does.
        """
        return captured_profile(self.recording, processor, optimizer)


def capture(
    model: nn.Module,
    loss: Callable[[Any], torch.Tensor],
    inputs: object,
    *,
    name: str = "",
    batch: int = 0,
    measured: int = 0,
    with_ratios: bool = False,
) -> Capture:
    """Run one training iteration of `model` and record it, on the device where its parameters are.

    - `model`: any module. On the meta device nothing is computed, so its size does not matter.
    - `loss`: takes the output of the model and gives a tensor of one element.
    - `inputs`: a tensor, a sequence of positional arguments, or a mapping of keyword arguments of the model.
      Other tensors that `loss` uses, such as labels, are inputs, too.
    - `name`: of the model, by default that of its class.
    - `batch`: examples, by default the first dimension of the first input.
    - `measured`: so many more iterations, whose median gives the durations; real tensors only.
    - `with_ratios`: measure how far the codecs compress what is saved; real tensors only.

    The model's parameters, gradients, buffers and the random states stay as they are. Raises `CaptureError`
    for a model that cannot be captured.
    """
    subject = _subject(model, loss, inputs, name, batch)
    if subject.device.type == "meta":
        if measured or with_ratios:
            what = "durations" if measured else "ratios"
            raise CaptureError(f"{subject.name}: {what} on the meta device; expected real tensors")
        with FakeTensors() as fakes:
            args, kwargs = fakes.of((subject.args, subject.kwargs))
            return Capture(record(replace(subject, args=args, kwargs=kwargs), False, False))
    recording = record(subject, timed=False, with_ratios=with_ratios)
    if measured:
        recording = _with_medians(recording, [record(subject, True, False) for _ in range(measured)])
    return Capture(recording)


def _subject(
    model: nn.Module, loss: Callable[[Any], torch.Tensor], inputs: object, name: str, batch: int
) -> Subject:
    if not isinstance(model, nn.Module):
        raise CaptureError(f"the model is a {type(model).__name__}; expected a torch.nn.Module")
    if not callable(loss):
        raise CaptureError(f"the loss is a {type(loss).__name__}; expected a function of the model's output")
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}
    match inputs:
        case torch.Tensor():
            args = (inputs,)
        case Mapping():
            kwargs = inputs
        case tuple() | list():
            args = tuple(inputs)
        case _:
            raise CaptureError(
                f"the inputs are a {type(inputs).__name__}; expected a tensor, a tuple or a mapping"
            )
    tensors = tuple(leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor))
    name = name or type(model).__name__
    first = next((tensor.shape[0] for tensor in tensors if tensor.dim()), 0)
    if not (batch or first):
        raise CaptureError(f"{name}: no input has a dimension; expected `batch`, the number of examples")
    return Subject(name, batch or first, model, loss, args, kwargs, _device(model, tensors, name))


def _device(model: nn.Module, inputs: Iterable[torch.Tensor], name: str) -> torch.device:
    """The device of all tensors."""
    parameters = dict(model.named_parameters())
    if not parameters:
        raise CaptureError(f"{name}: no parameter; expected a model to train")
    first, device = next((n, p.device) for n, p in parameters.items())
    named = {
        **{f"parameter {n}": p for n, p in parameters.items()},
        **{f"buffer {n}": b for n, b in model.named_buffers()},
        **{f"input {i}": tensor for i, tensor in enumerate(inputs)},
    }
    for what, tensor in named.items():
        if tensor.device != device:
            raise CaptureError(
                f"{name}: {what} lies on {tensor.device}; expected {device}, as of parameter {first}"
            )
    return device


def _with_medians(recording: Recording, runs: list[Recording]) -> Recording:
    """The recording with the median of the durations of runs of the same operations."""
    keys = [(each.module, each.backward) for each in recording.operations]
    for run in runs:
        if [(each.module, each.backward) for each in run.operations] != keys:
            raise CaptureError(
                f"{recording.model}: its iterations differ in their operations; expected equal ones"
            )
    operations = tuple(
        replace(each, seconds=median(run.operations[index].seconds or 0.0 for run in runs))
        for index, each in enumerate(recording.operations)
    )
    return replace(recording, operations=operations)
