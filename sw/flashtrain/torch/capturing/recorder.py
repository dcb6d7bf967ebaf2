"""Records the operations of an iteration: what each takes, makes, saves and needs again."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from flashtrain.torch.capturing.flops import flops_of
from flashtrain.torch.capturing.module_spans import ModuleSpans
from flashtrain.torch.capturing.ratios import measured_ratios
from flashtrain.torch.capturing.recording import LOSS
from flashtrain.torch.capturing.storages import (
    Origin,
    StorageLedger,
    StorageRecord,
)
from flashtrain.torch.capturing.work import work_of
from flashtrain.torch.change_counter import ChangeCounter
from flashtrain.torch.errors import CaptureError
from flashtrain.torch.tensor_names import described, short_name
from flashtrain.training.offload.processor import Work

_ATEN = torch.ops.aten
_RELUS = (_ATEN.relu, _ATEN.relu_)
WITHOUT_DATA = (
    "expected operations that do not depend on data, if only for fake tensors; or a capture of real tensors"
)
"""The ways to capture what fails on the meta device."""
_LITERALS = (_ATEN.lift_fresh, _ATEN.lift_fresh_copy)
"""Operations on tensors that Python has just made of numbers."""


@dataclass(eq=False)
class OpenOperation:
    """An operation as far as it is recorded; see `recording.RecordedOperation`."""

    module: str
    backward: bool
    recomputed: bool
    work: list[Work] = field(default_factory=list)
    seconds: float = 0.0
    parameters: dict[str, None] = field(default_factory=dict)
    inputs: dict[int, None] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, bool, bool]:
        return self.module, self.backward, self.recomputed


@dataclass(eq=False)
class OpenSave:
    """A saved storage as far as it is recorded; see `recording.RecordedSave`."""

    number: int
    record: StorageRecord
    counter: ChangeCounter
    made: int
    module: str
    operation: str
    relu: bool
    dtype: str
    element_bytes: int
    shape: tuple[int, ...]
    tensor: torch.Tensor | None
    """For the ratios; None if they are not asked for."""
    ratios: dict[str, float] = field(default_factory=dict)
    uses: dict[int, None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Packed:
    tensor: torch.Tensor
    save: OpenSave | None


class Recorder(TorchDispatchMode):
    """Sees each operation of the dispatcher while entered; `pack` and `unpack` are the hooks of autograd.

    - `spans`: of the model's modules.
    - `ledger`: with records of parameters, buffers and inputs.
    - `inputs`: tensors from outside; the loss function may add some.
    - `timed`: measure the time of each operation.
    - `with_ratios`: measure how far the codecs compress saved storages.
    """

    def __init__(
        self,
        spans: ModuleSpans,
        ledger: StorageLedger,
        inputs: list[torch.Tensor],
        timed: bool,
        with_ratios: bool,
    ) -> None:
        super().__init__()
        self.operations: list[OpenOperation] = []
        self.saves: list[OpenSave] = []
        self.gradients: dict[str, int] = {}
        """The operation of the backward pass that completes the gradient of a parameter, by its name."""
        self.uncounted: Counter[str] = Counter()
        """See `recording.Recording`."""
        self.inputs = inputs
        self.backward = False
        self._spans = spans
        self._ledger = ledger
        self._timed = timed
        self._with_ratios = with_ratios
        self._saves_of: dict[StorageRecord, list[OpenSave]] = {}
        self._touched: list[frozenset[StorageRecord]] = []

    @property
    def workspace_bytes(self) -> int:
        """See `recording.Recording`."""
        unsaved = (sum(r.bytes for r in each if r not in self._saves_of) for each in self._touched)
        return max(unsaved, default=0)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func.namespace == "prim":  # a question to a fake tensor
            return func(*args, **kwargs)
        taken = _tensors((args, kwargs))
        if _is_view(func):
            result = func(*args, **kwargs)
            if func.overloadpacket in _LITERALS:
                self._made(func, _tensors(result), self._operation())
            return result
        operation = self._operation()
        for tensor in taken:
            self._take(func, tensor, operation)
        begin = self._now(taken)
        try:
            result = func(*args, **kwargs)
        except (RuntimeError, NotImplementedError) as error:
            self._refuse_meta(func, taken, error)
            raise
        given = _tensors(result)
        operation.seconds += self._now(given) - begin
        self._made(func, given, operation)
        flops = flops_of(func, args, kwargs, result)
        work = work_of(func, flops or 0, taken, given)
        if work.flops or work.bytes:
            operation.work.append(work)
        if flops is None:
            self.uncounted[str(func.overloadpacket)] += int(work.bytes)
        self._note_touched(taken + given)
        return result

    def pack(self, tensor: torch.Tensor) -> _Packed:
        """Autograd saves a tensor."""
        record = self._record(tensor, self.where("a saved tensor"))
        if self._is_left_out(record) or tensor.numel() == 0:
            return _Packed(tensor, None)
        known = self._saves_of.setdefault(record, [])
        save = next((save for save in known if _is_same(save, tensor)), None)
        if save is None:
            self._operation()
            save = self._save(tensor, record)
            known.append(save)
            self.saves.append(save)
        return _Packed(tensor, save)

    def unpack(self, packed: _Packed) -> torch.Tensor:
        """Autograd needs a saved tensor."""
        if packed.save is not None:
            self._operation()
            index = len(self.operations) - 1
            if self.backward:
                packed.save.uses[index] = None
            else:  # a gradient that is part of the loss
                packed.save.record.released = index
        return packed.tensor

    def measure_ratios(self) -> None:
        """Measure the saved storages. Between the passes: the recorder must not see how."""
        for save in self.saves:
            if save.tensor is not None:
                save.ratios = measured_ratios(save.tensor)
                save.tensor = None

    def gradient_hook(self, name: str) -> Callable[[torch.Tensor], None]:
        """A hook for the parameter of that name, after its gradient has been accumulated."""

        def accumulated(parameter: torch.Tensor) -> None:
            gradient = parameter.grad
            if gradient is not None:
                record = self._ledger.of(gradient, f"parameter {name}: its gradient")
                if record is not None:
                    record.origin = Origin.GRADIENT
            self.gradients[name] = len(self.operations) - 1

        return accumulated

    def _is_left_out(self, record: StorageRecord) -> bool:
        """Whether the hooks of a run leave it out: parameters, buffers, other leaves with gradients."""
        leaf = isinstance(record.owner, int) and self.inputs[record.owner].requires_grad
        return leaf or record.origin in (Origin.PARAMETER, Origin.BUFFER)

    def _save(self, tensor: torch.Tensor, record: StorageRecord) -> OpenSave:
        whole = tensor.numel() * tensor.element_size() == record.bytes and tensor.is_contiguous()
        elements = record.bytes // tensor.element_size()
        return OpenSave(
            number=len(self.saves),
            record=record,
            counter=ChangeCounter(tensor, with_data=isinstance(tensor, FakeTensor)),
            made=record.made if record.origin is Origin.OPERATION else len(self.operations) - 1,
            module=record.module,
            operation=record.operation,
            relu=record.relu,
            dtype=short_name(tensor.dtype),
            element_bytes=tensor.element_size(),
            shape=tuple(tensor.shape) if whole else (elements,),
            tensor=tensor if self._with_ratios else None,
        )

    def _operation(self) -> OpenOperation:
        """The operation that goes on now, or a new one."""
        module, recomputed = self._module()
        key = (module, self.backward, recomputed)
        if not self.operations or self.operations[-1].key != key:
            self.operations.append(OpenOperation(*key))
        return self.operations[-1]

    def _module(self) -> tuple[str, bool]:
        """The module at work, and whether it runs once more in the backward pass."""
        if not self.backward or self._spans.inside:
            return self._spans.paths[self._spans.current], self.backward
        node = torch._C._current_autograd_node()
        span = None if node is None else self._spans.of_node(node)
        if span is None:  # gradients are accumulated, or the gradient of the loss is made
            last = self.operations[-1]
            return (last.module, last.recomputed) if last.backward else (LOSS, False)
        return self._spans.paths[span], False

    def where(self, what: object) -> str:
        """The module at work and the function or operation, for messages."""
        module, _ = self._module()
        return f"module {module}: {what}"

    def _record(self, tensor: torch.Tensor, where: str) -> StorageRecord:
        record = self._ledger.of(tensor, where)
        if record is not None:
            return record
        if not self.backward and not self._spans.inside:
            self.inputs.append(tensor)
            return self._ledger.add(tensor, where, Origin.INPUT, len(self.inputs) - 1)
        return self._ledger.add(tensor, where, Origin.CONSTANT)

    def _take(self, func: Any, tensor: torch.Tensor, operation: OpenOperation) -> None:
        record = self._record(tensor, self.where(func))
        if isinstance(record.owner, str) and record.origin is Origin.PARAMETER:
            operation.parameters[record.owner] = None
        if isinstance(record.owner, int) and record.origin is Origin.INPUT:
            operation.inputs[record.owner] = None
        if not self.backward:
            record.released = len(self.operations) - 1

    def _made(self, func: Any, tensors: Iterable[torch.Tensor], operation: OpenOperation) -> None:
        for tensor in tensors:
            where = self.where(func)
            record = self._ledger.of(tensor, where) or self._ledger.add(tensor, where, Origin.OPERATION)
            if record.origin is Origin.OPERATION and not self.backward:
                record.module, record.operation = operation.module, str(func)
                record.made = record.released = len(self.operations) - 1
                record.relu = func.overloadpacket in _RELUS

    def _note_touched(self, tensors: list[torch.Tensor]) -> None:
        records = (self._ledger.of(tensor, "") for tensor in tensors)
        self._touched.append(frozenset(r for r in records if r is not None and r.origin is Origin.OPERATION))

    def _now(self, tensors: list[torch.Tensor]) -> float:
        if not self._timed:
            return 0.0
        for kind in {tensor.device.type for tensor in tensors}:
            torch.get_device_module(kind).synchronize()
        return time.perf_counter()

    def _refuse_meta(self, func: Any, taken: list[torch.Tensor], error: Exception) -> None:
        """`CaptureError` if the operation failed for the lack of data on the meta device."""
        on_meta = [tensor for tensor in taken if tensor.is_meta]
        if not on_meta:
            return
        where = self.where(func)
        for tensor in taken:
            if not tensor.is_meta and tensor.dim() > 0:
                raise CaptureError(
                    f"{where}: {described(tensor)} lies on {tensor.device}; expected meta, as of all others"
                ) from error
        raise CaptureError(
            f"{where} of {described(on_meta[0])}: {first_line(error)}; {WITHOUT_DATA}"
        ) from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    return next(iter(str(error).splitlines()), "no message")


def _is_same(save: OpenSave, tensor: torch.Tensor) -> bool:
    """Whether the save has the values of the tensor, which is on the same storage."""
    if tensor.is_meta and save.record.origin is Origin.INPUT:
        # The model has the fake one and the loss function the tensor itself. Each has a counter of its own.
        return not save.counter.changed
    return save.counter.matches(tensor)


def _tensors(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _is_view(func: Any) -> bool:
    """Whether the result is another view of an argument, and nothing is written."""
    returned = func._schema.returns
    return bool(returned) and all(
        each.alias_info is not None and not each.alias_info.is_write for each in returned
    )
