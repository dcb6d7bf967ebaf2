"""One training iteration under the eyes of a recorder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._pytree import tree_leaves

from flashtrain.torch.capturing.meta_functions import MetaFunctions
from flashtrain.torch.capturing.module_spans import ModuleSpans
from flashtrain.torch.capturing.recorder import WITHOUT_DATA, OpenOperation, OpenSave, Recorder, first_line
from flashtrain.torch.capturing.recording import (
    LOSS,
    ParameterGroup,
    RecordedInput,
    RecordedOperation,
    RecordedSave,
    Recording,
)
from flashtrain.torch.capturing.storages import Origin, StorageLedger
from flashtrain.torch.errors import CaptureError
from flashtrain.torch.tensor_names import described, short_name


@dataclass(frozen=True)
class Subject:
    """A model with its loss function and one batch of inputs.

    - `args`, `kwargs`: what the model is called with; `loss` is called with its output.
    """

    name: str
    batch: int
    model: nn.Module
    loss: Callable[[Any], torch.Tensor]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    device: torch.device

    @property
    def inputs(self) -> list[torch.Tensor]:
        """The tensors among the arguments."""
        return [leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, torch.Tensor)]


def record(subject: Subject, timed: bool, with_ratios: bool) -> Recording:
    """Run an iteration and record it. Gradients, buffers and random states are afterwards as they were."""
    ledger = StorageLedger()
    parameters = dict(subject.model.named_parameters())
    _stamp(subject, parameters, ledger)
    spans = ModuleSpans(subject.model, subject.name)
    recorder = Recorder(spans, ledger, subject.inputs, timed, with_ratios)
    with _restored(subject), _uncompiled(), spans:
        with recorder, saved_tensors_hooks(recorder.pack, recorder.unpack), MetaFunctions(recorder.where):
            loss = _forward(subject, spans)
        recorder.measure_ratios()
        released = [save.record.released for save in recorder.saves]
        recorder.backward = True
        with _gradient_hooks(parameters, recorder), recorder, _explained(subject):
            loss.backward()
    return _recording(subject, recorder, parameters, released, timed)


def _stamp(subject: Subject, parameters: Mapping[str, nn.Parameter], ledger: StorageLedger) -> None:
    """Records for all storages that exist before the iteration."""
    for name, parameter in parameters.items():
        where = f"parameter {name}"
        if ledger.of(parameter, where) is None:
            ledger.add(parameter, where, Origin.PARAMETER, name)
    for name, buffer in subject.model.named_buffers():
        where = f"buffer {name}"
        if ledger.of(buffer, where) is None:
            ledger.add(buffer, where, Origin.BUFFER)
    for index, tensor in enumerate(subject.inputs):
        where = f"input {index}"
        if ledger.of(tensor, where) is None:
            ledger.add(tensor, where, Origin.INPUT, index)


def _forward(subject: Subject, spans: ModuleSpans) -> torch.Tensor:
    with torch.enable_grad(), _explained(subject):
        output = subject.model(*subject.args, **subject.kwargs)
        spans.begin(LOSS)
        loss = subject.loss(output)
    if not isinstance(loss, torch.Tensor):
        raise CaptureError(
            f"{subject.name}: the loss is a {type(loss).__name__}; expected a tensor of one element"
        )
    if loss.numel() != 1:
        raise CaptureError(f"{subject.name}: the loss is {described(loss)}; expected a tensor of one element")
    if not loss.requires_grad:
        raise CaptureError(
            f"{subject.name}: the loss {described(loss)} has no gradient; expected one that depends on a"
            " parameter with requires_grad, without no_grad or detach on the way"
        )
    return loss


@contextmanager
def _explained(subject: Subject) -> Iterator[None]:
    """Make a `CaptureError` of an error on the meta device whose cause may be the lack of data."""
    try:
        yield
    except CaptureError:
        raise
    except (RuntimeError, TypeError) as error:  # of PyTorch, and of NumPy
        if subject.device.type != "meta":
            raise
        raise CaptureError(
            f"module {_module_of(error, subject)}: {type(error).__name__}: {first_line(error)};"
            f" {WITHOUT_DATA}"
        ) from error


def _module_of(error: BaseException, subject: Subject) -> str:
    """The path of the innermost module in the trace of an error."""
    paths = {id(module): path or subject.name for path, module in subject.model.named_modules()}
    found, trace = subject.name, error.__traceback__
    while trace is not None:
        found = paths.get(id(trace.tb_frame.f_locals.get("self")), found)
        trace = trace.tb_next
    return found


@contextmanager
def _gradient_hooks(parameters: Mapping[str, nn.Parameter], recorder: Recorder) -> Iterator[None]:
    handles = [
        parameter.register_post_accumulate_grad_hook(recorder.gradient_hook(name))
        for name, parameter in parameters.items()
        if parameter.requires_grad
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _uncompiled() -> AbstractContextManager[None]:
    """While entered, compiled modules run as they were written, and stay compiled for later calls.

    Under a recorder PyTorch compiles nothing. It would leave out the same code ever after.
    """
    return torch.compiler.set_stance("force_eager")


@contextmanager
def _restored(subject: Subject) -> Iterator[None]:
    """Put gradients, buffers and random states back at the end."""
    gradients = [(parameter, parameter.grad) for parameter in subject.model.parameters()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in subject.model.buffers()]
    kind = subject.device.type
    devices = [] if kind in ("cpu", "meta") else [subject.device]
    with torch.random.fork_rng(devices, device_type=kind if devices else "cuda"):
        for parameter, _ in gradients:
            parameter.grad = None
        try:
            yield
        finally:
            for parameter, gradient in gradients:
                parameter.grad = gradient
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)


def _recording(
    subject: Subject,
    recorder: Recorder,
    parameters: Mapping[str, nn.Parameter],
    released: Sequence[int],
    timed: bool,
) -> Recording:
    groups = _Groups(parameters, recorder.gradients, subject.name)
    completed: dict[str, int] = {}
    for name, index in recorder.gradients.items():
        group = groups.of(name)
        completed[group] = max(index, completed.get(group, index))
    storages = {id(b.untyped_storage()): b.untyped_storage().nbytes() for b in subject.model.buffers()}
    return Recording(
        model=subject.name,
        batch=subject.batch,
        operations=tuple(
            _operation(each, timed, groups, tuple(g for g, last in completed.items() if last == index))
            for index, each in enumerate(recorder.operations)
        ),
        saves=tuple(
            _save(save, max(save.made, last)) for save, last in zip(recorder.saves, released, strict=True)
        ),
        parameters=groups.all(),
        inputs=tuple(
            RecordedInput(
                short_name(tensor.dtype), tuple(tensor.shape), tensor.numel() * tensor.element_size()
            )
            for tensor in recorder.inputs
        ),
        buffer_bytes=sum(storages.values()),
        workspace_bytes=recorder.workspace_bytes,
        uncounted={name: size for name, size in recorder.uncounted.most_common() if size},
    )


def _operation(
    each: OpenOperation, timed: bool, groups: "_Groups", gradients: tuple[str, ...]
) -> RecordedOperation:
    return RecordedOperation(
        module=each.module,
        backward=each.backward,
        recomputed=each.recomputed,
        work=tuple(each.work),
        seconds=each.seconds if timed else None,
        weights=tuple(dict.fromkeys(map(groups.of, each.parameters))),
        gradients=gradients,
        inputs=tuple(each.inputs),
    )


def _save(save: OpenSave, released: int) -> RecordedSave:
    record = save.record
    return RecordedSave(
        number=save.number,
        bytes=record.bytes,
        dtype=save.dtype,
        element_bytes=save.element_bytes,
        shape=save.shape,
        module=save.module,
        operation=save.operation,
        made=save.made,
        released=released,
        uses=tuple(sorted(save.uses)),
        relu=save.relu,
        input=record.owner if isinstance(record.owner, int) else None,
        ratios=save.ratios,
    )


class _Groups:
    """The groups of parameters: of one module, with a gradient or without."""

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], updated: Mapping[str, int], model: str
    ) -> None:
        self._parameters = parameters
        self._updated = updated
        self._model = model

    def of(self, parameter: str) -> str:
        module = parameter.rpartition(".")[0] or self._model
        return module if parameter in self._updated else f"{module} (frozen)"

    def all(self) -> tuple[ParameterGroup, ...]:
        found: dict[str, ParameterGroup] = {}
        for name, parameter in self._parameters.items():
            key, size = self.of(name), parameter.numel()
            before = found.get(key, ParameterGroup(key, 0, 0, name in self._updated))
            found[key] = ParameterGroup(
                key, before.elements + size, before.bytes + size * parameter.element_size(), before.updated
            )
        return tuple(found.values())
