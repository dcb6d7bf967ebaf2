"""`OffloadActivations` and `save_on_flash`: activations on the flash until the backward pass."""

import weakref
from dataclasses import replace
from threading import RLock
from typing import Self

import torch
from torch.autograd.graph import saved_tensors_hooks

from flashtrain.host import Device
from flashtrain.spec.errors import require
from flashtrain.spec.streams import Codec
from flashtrain.torch.accelerators import is_on_accelerator
from flashtrain.torch.change_counter import ChangeCounter
from flashtrain.torch.ranks.shards import shard
from flashtrain.torch.tensor_kinds import detached_alias, obstacle
from flashtrain.torch.tensor_names import described
from flashtrain.torch.weak_storages import WeakStorages
from flashtrain.training.offload import RAW, Plan, Profile

from .codec_choice import CodecChoice, Encoding
from .errors import ActivationChanged, ActivationError, UnsupportedTensor
from .keep import keeps_now
from .memory import ActivationMemory
from .module_scope import ModuleScope
from .packed_tensor import PackedTensor
from .parameter_storages import ParameterStorages
from .plan import PlanAtWork
from .report import ActivationReport, ModuleTraffic
from .saved_storage import ForwardPass, SavedStorage, Saving
from .store import ActivationStore, FlashCopy
from .view_layout import ViewLayout

DEFAULT_MEMORY_BYTES = 16 << 20


class OffloadActivations(saved_tensors_hooks):
    """Context in which the tensors that a forward pass saves go to the flash::

        with OffloadActivations(device) as activations:
            loss = criterion(model(inputs), labels)
        loss.backward()
        print(activations.report())

    Each storage is appended to the stream `stream` once, however many views of it are saved. The backward
    pass gets the same bits, strides and offsets. Parameters, buffers and views of them are left out.

    A forward pass begins when the context is entered. It may be entered again and again, or once around a
    training loop. Then the next forward pass begins when the graph before has ended. Storages are numbered in
    a pass by their first saving: `saved/0`, `saved/1`, and so on. A plan names them so.

    - `plan`: what is offloaded, by which codec, and when it is read (`flashtrain.training.offload`). By
      default everything is. It stays in memory as well while there is room, and reads go backwards.
    - `profile`: the one that the plan was made for. Each saved storage is then compared with it.
    - `codec`: the codec of all storages. By default the lossless one of the stream that fits. ROUND16
      rounds FP32 to BF16, and only if it is named here or in the plan.
    - `memory_bytes`: the most bytes of saved storages in memory. The limit holds while the model itself needs
      no more at a time. By default it is 16 MiB, with plan and profile the plan's peak, and with a plan
      alone there is none.
    - `min_bytes`: smaller storages stay in memory; by default a block of the stream.

    The hooks see what the thread saves that has entered the context. A module that another one calls is
    named in a warning and in the report. The backward pass may be in any thread.

    :class:`UnsupportedTensor` for a saved tensor whose storage does not hold its values, unless `keep` covers
    it. So it is for one that is neither of the CPU nor of an accelerator. Zeros of forward-mode
    differentiation have no bytes and stay as they are.
    :class:`ActivationChanged` in the backward pass for a tensor that was changed in place.
    """

    def __init__(
        self,
        device: Device,
        plan: Plan | None = None,
        *,
        profile: Profile | None = None,
        codec: Codec | str | None = None,
        memory_bytes: int | None = None,
        min_bytes: int | None = None,
        stream: str = "activations",
    ) -> None:
        super().__init__(self._pack, self._unpack)
        for field, value in (("memory_bytes", memory_bytes), ("min_bytes", min_bytes)):
            require(
                value is None or (isinstance(value, int) and value >= 0), field, value, "0 or more, or None"
            )
        self._store = ActivationStore(device, stream)
        self._codecs = CodecChoice(self._store.stream, codec)
        self._plan = None if plan is None else PlanAtWork(plan, profile)
        require(plan is None or codec is None, "codec", codec, "None with a plan, which names codecs itself")
        require(plan is not None or profile is None, "profile", "given", "None without a plan")
        if memory_bytes is None:
            memory_bytes = DEFAULT_MEMORY_BYTES if self._plan is None else self._plan.activation_bytes
        self._memory = ActivationMemory(self._store, memory_bytes, retains=plan is None)
        self._min_bytes = self._store.block_bytes if min_bytes is None else min_bytes
        self._parameters = ParameterStorages()
        self._scope = ModuleScope(self._parameters.note)
        self._storages = WeakStorages[list[Saving]]()
        self._pass = ForwardPass()
        self._traffic: dict[str, ModuleTraffic] = {}
        self._kept: dict[str, int] = {}
        self._is_entered = False
        self._lock = RLock()  # the backward pass may be in another thread, or in several

    def __enter__(self) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._is_entered:
            raise ActivationError("the context is in use; expected one that was left")
        super().__enter__()
        self._scope.start()
        self._pass = ForwardPass()
        self._is_entered = True
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._scope.stop()
        self._is_entered = False
        if error[0] is None:
            self._check_end()

    def report(self) -> ActivationReport:
        """All traffic so far."""
        self._store.drop_released()
        hz = self._store.clock_hz
        return ActivationReport(
            {module: replace(traffic) for module, traffic in self._traffic.items()},
            dict(self._kept),
            self._memory.limit,
            self._memory.live.peak,
            self._memory.live.now,
            self._store.write_cycles / hz,
            self._store.read_cycles / hz,
            dict(self._scope.elsewhere),
        )

    # Packing.

    def _pack(self, tensor: torch.Tensor) -> PackedTensor:
        with self._lock, torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            return self._packed(tensor)

    def _packed(self, tensor: torch.Tensor) -> PackedTensor:
        module = self._scope.path
        is_kept = keeps_now() or self._scope.keeps
        part = shard(tensor)  # PyTorch counts changes of the whole
        label = f"{described(part)} of module {module!r}"
        if reason := obstacle(part) or _place(part):
            if not (is_kept or tensor._is_zerotensor()):
                raise UnsupportedTensor(
                    f"{label} {reason}; expected a strided one of the CPU or of an accelerator, or `keep`"
                )
            return PackedTensor(
                label, ChangeCounter(tensor, with_data=True), None, None, detached_alias(tensor)
            )
        counter = ChangeCounter(tensor)
        if self._parameters.has(tensor):
            return PackedTensor(label, counter, None, None, detached_alias(tensor))
        layout = ViewLayout.of(tensor)
        if not part.numel():
            return PackedTensor(label, counter, layout, None, layout.empty())
        storage = part.untyped_storage()
        saved = self._find(storage, tensor) or self._save(storage, tensor, counter, module, is_kept)
        saved.unused += 1
        kept = None if saved.encoding is not None else detached_alias(tensor)
        return PackedTensor(saved.label, counter, layout, saved, kept)

    def _find(self, storage: torch.UntypedStorage, tensor: torch.Tensor) -> SavedStorage | None:
        """The storage as it was saved before, if its content is the same."""
        for saving in self._storages.get(storage) or ():
            saved = saving.saved
            if saved is not None and saved.counter.matches(tensor):
                # Rounding is for elements of FP32 alone.
                if not saved.rounds or tensor.dtype is torch.float32:
                    return saved
        return None

    def _save(
        self,
        storage: torch.UntypedStorage,
        tensor: torch.Tensor,
        counter: ChangeCounter,
        module: str,
        is_kept: bool,
    ) -> SavedStorage:
        if self._pass.begun and not self._pass.alive:
            self._check_end()
            self._pass = ForwardPass()
        owner, nbytes = self._pass, storage.nbytes()
        number = self._number(storage, tensor)
        name = f"saved/{number}"
        label = f"{name}, {described(shard(tensor))} of module {module!r},"
        encoding, reason = self._choose(name, tensor.dtype, nbytes, label, is_kept)
        traffic = self._traffic.setdefault(module, ModuleTraffic())
        saved = SavedStorage(owner, number, label, storage, counter, encoding, traffic)
        weakref.finalize(saved, self._end, owner, saved.copy).atexit = False
        self._remember(storage, saved)
        self._memory.live.add(storage)
        traffic.tensors += 1
        traffic.saved_bytes += nbytes
        if encoding is None:
            traffic.kept_bytes += nbytes
            self._kept[reason] = self._kept.get(reason, 0) + nbytes
            self._memory.settle(nbytes)
        else:
            self._memory.take(saved, storage)
            traffic.offloaded_bytes += nbytes
            traffic.rounded_bytes += nbytes if saved.rounds else 0
        return saved

    def _choose(
        self, name: str, dtype: torch.dtype, nbytes: int, label: str, is_kept: bool
    ) -> tuple[Encoding | None, str]:
        """The encoding of a storage; None for one that stays in memory, and why it does."""
        planned = None if self._plan is None else self._plan.find(name, nbytes, label)
        if is_kept:
            return None, "by keep"
        if self._plan is None:
            if nbytes < self._min_bytes:
                return None, "small"
            return self._codecs.encoding(dtype, nbytes), ""
        if planned is None:
            return None, "by the plan"
        codec = None if planned.codec == RAW else self._codecs.named(planned.codec)
        return self._codecs.encoding(dtype, nbytes, codec), ""

    def _number(self, storage: torch.UntypedStorage, tensor: torch.Tensor) -> int:
        """The number of a storage in the pass: a new one, or that of an ended saving of the same content."""
        for saving in self._storages.get(storage) or ():
            if saving.owner is self._pass and saving.saved is None and saving.counter.matches(tensor):
                return saving.number
        return len(self._pass.saved)

    def _remember(self, storage: torch.UntypedStorage, saved: SavedStorage) -> None:
        known = self._storages.get(storage)
        if known is None:
            self._storages.put(storage, known := [])
        known[:] = [each for each in known if each.saved is not None or each.is_beside(saved)]
        known.append(Saving(saved))

    def _end(self, owner: ForwardPass, copy: FlashCopy) -> None:
        owner.alive -= 1
        self._store.release(copy)

    def _check_end(self) -> None:
        if self._plan is not None:
            self._plan.check_end(len(self._pass.saved))

    # Unpacking.

    def _unpack(self, packed: PackedTensor) -> torch.Tensor:
        if packed.counter.changed:
            raise ActivationChanged(
                "one of the variables needed for gradient computation has been modified by an inplace"
                f" operation: {packed.label} is at version {packed.counter.now}; expected version"
                f" {packed.counter.saved} instead"
            )
        with self._lock, torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
            return self._unpacked(packed)

    def _unpacked(self, packed: PackedTensor) -> torch.Tensor:
        saved = packed.saved
        if saved is not None:
            self._note_need(saved)
        if packed.kept is not None:
            return packed.kept
        assert saved is not None and packed.layout is not None
        tensor = packed.layout.view(self._memory.fetch(saved))
        if not packed.is_used:
            packed.is_used = True
            saved.unused -= 1
        self._memory.note_use(saved)
        if self._plan is None:
            self._read_behind(saved)
        return tensor

    def _note_need(self, saved: SavedStorage) -> None:
        """Note the first need of a storage, and begin the reads that the plan issues with it."""
        owner = saved.owner
        if not owner.begun:
            owner.begun = True
            owner.top = owner.frontier = saved.number
            if self._plan is not None:
                if self._plan.barrier:
                    self._memory.wait_written()
                self._read_planned(owner, None)
        if saved.was_needed:
            return
        saved.was_needed = True
        if self._plan is not None:
            self._plan.check_need(saved.name, saved.label)
            self._read_planned(owner, saved.name)
        if saved.encoding is not None and saved.never_left:
            saved.traffic.memory_bytes += saved.nbytes

    def _read_planned(self, owner: ForwardPass, name: str | None) -> None:
        assert self._plan is not None
        for number in self._plan.reads_with(name):
            other = owner.saved[number]() if number < len(owner.saved) else None
            if other is not None:
                self._memory.read_ahead(other)

    def _read_behind(self, saved: SavedStorage) -> None:
        """Begin reads, backwards from a storage that is in use, while there is room."""
        owner = saved.owner
        if not owner.frontier <= saved.number <= owner.top:
            owner.top = owner.frontier = saved.number
        while owner.frontier:
            other = owner.saved[owner.frontier - 1]()
            if other is not None and not self._memory.read_ahead(other):
                break
            owner.frontier -= 1


def save_on_flash(device: Device, *, stream: str = "activations") -> OffloadActivations:
    """As PyTorch's `save_on_cpu`: a context in which saved tensors leave memory at once.

    It is an :class:`OffloadActivations` with `memory_bytes` of 0, so each operation waits for the flash.
    Storages below a block of the stream stay.
    """
    return OffloadActivations(device, memory_bytes=0, stream=stream)


def _place(tensor: torch.Tensor) -> str | None:
    """Where the tensor lies, if that is not the memory of the CPU or of the accelerator."""
    is_taken = tensor.device.type == "cpu" or is_on_accelerator(tensor)
    return None if is_taken else f"lies on device {str(tensor.device)!r}"
