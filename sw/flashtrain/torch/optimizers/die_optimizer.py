"""`DieOptimizer`: the base of optimizers of PyTorch whose weights and state are on the dies of a device."""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Never
from weakref import ref
from zlib import crc32

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim.optimizer import ParamsT

from flashtrain.checkpoint import Checkpoint, PinnedCheckpoints
from flashtrain.host import Device, JournalMissing, TensorGroup
from flashtrain.host.device import STATE_STREAMS
from flashtrain.numerics import Totals
from flashtrain.spec import Port
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.spec.state_format import Rounding
from flashtrain.torch.ranks.errors import RankError
from flashtrain.torch.ranks.ranks import OwnStep, ranks_of
from flashtrain.torch.ranks.shards import check_placement, is_distributed, shard, shard_like
from flashtrain.torch.tensor_names import described
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.die_step import GradientReport, norm_limit
from flashtrain.training.errors import ParameterError
from flashtrain.training.parameters import require_separate

from .cell import Cell, Kind, KindOf, groups_of, in_order_of_arrival, made, refined
from .commit_note import CommitNote, members_of
from .die_state import DieState
from .formats import Formats, checksum
from .group_step import GroupStep, StateNames, used
from .loaded_state import LoadedState
from .open_step import OpenStep
from .overlap import Overlap, OverlapCounts
from .parameter_check import check_gradient, check_parameter, name_of
from .state_view import ShownTensors, StateView, with_own_entries
from .step_scale import StepScale, silence_warning
from .storage import PLAIN as FLOAT32
from .storage import Storage

_REPLICAS = (
    "the same on all ranks, as of FSDP2 and DistributedDataParallel; or own_parameters=True, as of"
    " ZeroRedundancyOptimizer and of a pipeline"
)

KERNELS = ("foreach", "fused", "capturable")
"""Options of PyTorch that choose kernels, and have no influence on the result."""

_INTEGERS = {2: torch.int16, 4: torch.int32}  # NumPy has no BF16


class DieOptimizer(torch.optim.Optimizer):
    """A `torch.optim.Optimizer` whose steps happen on the dies of `device`; gradients go in.

    params, defaults: as of `torch.optim.Optimizer`; gradient_format: in which gradients are sent, by default
    that of each parameter; copy_format: 16-bit weights come back with every step instead of float32 ones
    being read, by default for 16-bit parameters; streams, port: see :meth:`Device.optimizer_state`;
    max_norm: gradients with a larger norm, over all groups, are clipped to it; recovered: go on with the
    weights and state that the dies hold after `Device.recover`, of the same parameters and kind of optimizer;
    commits: how steps end, such as by a checkpoint (`flashtrain.checkpoint.PinEveryCommit`); group: the ranks
    that step together, by default all of `torch.distributed`; overlap: gradients go to the dies during the
    backward pass, and :meth:`step` decides (:class:`Overlap`); storage: formats on the dies.

    own_parameters: each rank has parameters of its own, and no replicas or shards of all ranks. So it is
    under `ZeroRedundancyOptimizer`, and in the stages of a pipeline.

    Optimizers have the storage in four arguments. weight_dtype, state_dtype: of weights and of state on the
    dies, `torch.float32` or `torch.bfloat16`, of moments also `torch.float8_e4m3fn`; rounding: of what is
    stored in BF16 or FP8 (`flashtrain.torch.Rounding`); seed: of stochastic rounding, an integer of 64 bits.
    `StateFormat.SPLIT` for weight_dtype is float32 in two halves. BF16 parameters are the upper ones.

    The weights live on the dies. After a step each parameter with a gradient holds them, rounded if it has 16
    bits. Parameters without a gradient are skipped, as in PyTorch. Weights that somebody else has written to
    a parameter are stored before the next step. A step that raises an exception has changed nothing, except
    for one whose new weights cannot be read afterwards.

    Of a `DTensor` the dies hold the shard of this rank. With several ranks all commit a step, or none; their
    calls that reach the device are collective.

    Members
    -------
    report: statistics of the last step's gradients, from the dies; None before, and after a step that had
        no gradients, or whose overflow the scaler had found.
    max_norm: as given; it may be changed between steps.
    host_state: gives the host's state as bytes, such as :meth:`HostState.pack`, which become durable with the
        commit of each step.
    recovered_host_state: the bytes at the commit of the generation that was recovered or restored.
    """

    _step_supports_amp_scaling = True

    names: StateNames
    """PyTorch's names of the state of a parameter."""

    state_is_moments = True
    """Whether its state is moments of gradients beside weights, so that FP8 can hold them."""

    hyperparameters: tuple[str, ...]
    """Names of what each group of a state dictionary must have."""

    def __init__(
        self,
        params: ParamsT,
        defaults: dict[str, Any],
        device: Device,
        gradient_format: GradientFormat | None = None,
        copy_format: CopyFormat | None = None,
        streams: Iterable[str] = STATE_STREAMS,
        port: Port = Port.CORE,
        max_norm: float | None = None,
        recovered: bool = False,
        commits: Commits = PLAIN,
        group: "dist.ProcessGroup | None" = None,
        overlap: bool = False,
        storage: Storage = FLOAT32,
        own_parameters: bool = False,
    ) -> None:
        if not isinstance(device, Device):
            raise ParameterError(f"device is a {type(device).__name__}; expected what open_device gives")
        for name, value, kind in (
            ("gradient_format", gradient_format, GradientFormat),
            ("copy_format", copy_format, CopyFormat),
        ):
            if value is not None and not isinstance(value, kind):
                raise ParameterError(f"{name} is {value!r}; expected a {kind.__name__}, or None")
        storage.require_for(type(self).__name__, device.config, self.state_is_moments)
        self.max_norm = max_norm
        norm_limit(max_norm)
        silence_warning()
        self.report: GradientReport | None = None
        self._formats = gradient_format, copy_format
        self._storage = storage
        self.host_state: Callable[[], bytes] = bytes
        self._recovered: CommitNote | None = None
        self._counted: list[dict[str, Any]] = []  # by group, during a step
        self._shown = ShownTensors()
        self._own_parameters = own_parameters
        self._ranks = ranks_of(group, commits, own_parameters)
        self._agreement = OwnStep()  # during a step that with the other ranks
        self._overlap = Overlap(self._begin) if overlap else None
        self._scaler: ref[torch.amp.GradScaler] | None = None  # of the last step
        self._dies = DieState(device, streams, port, self._note_of, self._ranks)
        self._ranks.agreed(lambda: super(DieOptimizer, self).__init__(params, defaults))
        self._ranks.require_equal(self._facts(device))
        if not own_parameters:
            groups = [list(map(described, group["params"])) for group in self.param_groups]
            self._ranks.require_equal({"parameters": groups}, _REPLICAS)
        if overlap and not self._reported():
            raise ParameterError(
                f"overlap=True with plain tensors on {self._ranks.count} ranks, which join their gradients"
                " after the hooks of the backward pass; expected overlap=False, or DTensors, as of FSDP2"
            )
        if recovered:
            self._attach()
        else:
            trained = {p for p in self._members() if p.requires_grad}
            steps = self._steps()
            self._ranks.agreed(lambda: self._dies.store(self._refined(trained, steps), steps, {}, 0))
        if not own_parameters:
            plain = [checksum(p) for p in self._members() if not is_distributed(p)]
            self._ranks.require_equal(
                {"plain parameters with the checksum": crc32(repr(plain).encode())}, _REPLICAS
            )
        if self._overlap is not None:
            self._overlap.watch(self._reported())

    # For the kinds of optimizers.

    def step_of(self, number: int, group: Mapping[str, Any]) -> GroupStep:
        """The step of a group; :class:`ParameterError` for an option that the dies do not have."""
        raise NotImplementedError

    def names_of(self, group: Mapping[str, Any]) -> StateNames:
        """PyTorch's names of the state of the parameters of a group."""
        return self.names

    def counted(self, group: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a group that a step changes, as they are after the next one."""
        return {}

    @property
    def stores(self) -> int:
        """The number of times that the host has stored weights on the dies: 1 if nobody else changes them."""
        return self._dies.stores

    @property
    def overlaps(self) -> OverlapCounts:
        """Steps that were begun during a backward pass."""
        return OverlapCounts() if self._overlap is None else self._overlap.counts

    # Checkpoints.

    @property
    def recovered_host_state(self) -> bytes:
        return b"" if self._recovered is None else self._recovered.host

    def resume(self, restore: Callable[[bytes], object] | None = None) -> bool:
        """Give the host the state that it had at the commit of the recovered or restored generation.

        The groups get their options of then, behind schedulers that were made on this optimizer; `restore`,
        such as :meth:`HostState.restore`, gets the bytes of `host_state`. Returns False, and does nothing, if
        the generation is that before the first step.
        """
        if self._recovered is None or self._recovered.options is None:
            return False
        kept = [{name: group[name] for name in self.counted(group)} for group in self.param_groups]
        self._recovered.set_options(self.param_groups)
        for group, counted in zip(self.param_groups, kept, strict=True):
            group.update(counted)  # they belong to the state, and came with it
        if restore is not None:
            restore(self._recovered.host)
        self._opt_called = True  # a scheduler that steps now is not too early
        return True

    @property
    def checkpoints(self) -> PinnedCheckpoints:
        """The pinned generations, to be listed, loaded, deleted and pruned; see :meth:`pin`."""
        return PinnedCheckpoints(self._dies.stored)

    def pin(self, name: str) -> Checkpoint:
        """Keep the present weights and state, with the host's state of their commit, as a checkpoint: one
        command, and no copy. :class:`CheckpointExists` for a name that is there."""
        pins = self.checkpoints
        if self._ranks.count == 1:
            return pins.save(name, self._note().pack())
        self._ranks.agreed(lambda: pins.require_new(name))
        note = self._note().pack()
        try:
            made = self._ranks.agreed(lambda: pins.name(name, note))[self._ranks.rank]
        except RankError:
            self._dies.stored.pin(note)
            raise
        self._ranks.agreed(pins.release_surplus)
        return made

    def restore(self, name: str) -> None:
        """Go on from a pinned checkpoint: parameters and state are as they were; :meth:`resume` is next."""
        self._forget_begun()
        generation, raw = self._ranks.agreed(lambda: self.checkpoints.find(name))[self._ranks.rank]
        note = CommitNote.unpack(raw)
        members = members_of(self.param_groups)
        cells = [cell.cell(members) for cell in note.cells]
        self._require_counted(note)
        copied = replace(note, place=self._ranks.place(1)).pack()
        self._ranks.agreed(lambda: self._dies.revert(generation, cells, _host_of(note), copied))
        self._take(note)

    # As of torch.optim.Optimizer.

    @property
    def state(self) -> StateView:
        """The state on the dies, read on access; writes to it are refused, at the next step at the latest."""
        names = [self.names_of(group) for group in self.param_groups]
        return StateView(self._dies, names, self._members(), self._shown)

    @state.setter
    def state(self, value: Mapping[Tensor, Any]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        for parameter, entry in value.items():
            self.state[parameter] = entry

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group. Its parameters go to the dies with the first step that has gradients for them.

        :class:`ParameterError` for parameters and options that the dies do not have; nothing is added then.
        """
        super().add_param_group(param_group)
        try:
            number, group = len(self.param_groups) - 1, self.param_groups[-1]
            for index, parameter in enumerate(group["params"]):
                check_parameter(name_of(group, number, index), parameter, self._formats[1])
                check_placement(
                    name_of(group, number, index),
                    parameter,
                    None if self._own_parameters else self._ranks.count,
                )
            self.step_of(number, group)
            shards = [shard(p).detach() for p in self._members()]
            hosted = [p for p in shards if p.device.type == "cpu" and p.numel()]
            require_separate([p.view(_INTEGERS[p.element_size()]).numpy() for p in hosted])
        except Exception:
            self.param_groups.pop()
            raise

    @torch.no_grad()
    def step(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        closure: Callable[[], Any] | None = None,
        *,
        grad_scaler: torch.amp.GradScaler | None = None,
    ) -> Any:
        """One step of all parameters with gradients, on the dies; returns what `closure` does.

        After an overflow nothing is changed: the scaler learns of it, and without one there is a warning.
        grad_scaler: `GradScaler.step` passes itself.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self.report = None
        begun = None if self._overlap is None else self._overlap.take()
        try:
            with self._ranks.step() as agreement:
                self._agreement = agreement
                self._shown.check()
                scale = StepScale(self, grad_scaler)
                if scale.overflow:
                    agreement.joined(Totals(overflow=True), self._dies.updates)
                else:
                    self.report = self._step_of(self._gradients(), scale.unscale, agreement, begun)
        finally:
            if begun is not None:
                begun.drop()  # of no effect after its result
            self._forget_begun()
        self._scaler = None if grad_scaler is None else ref(grad_scaler)
        skipped = self.report is not None and self.report.skipped
        scale.report(skipped)
        if skipped and not scale.scaled:
            warnings.warn(f"{type(self).__name__} skipped a step: {_cause(self.report)}",
                          RuntimeWarning, stacklevel=2)  # fmt: skip
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._forget_begun()
        super().zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """The dictionary of PyTorch, with a state that is read from the dies and belongs to the caller."""
        shown, self._shown = self._shown, ShownTensors()  # what it reads may be written to
        # As the first of the hooks, so that the others may change the entries.
        handle = self.register_state_dict_post_hook(lambda _, saved: with_own_entries(saved), prepend=True)
        try:
            return super().state_dict()
        finally:
            handle.remove()
            self._shown = shown

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Store the state of an optimizer of this kind, PyTorch's own or one on dies, and go on from there.

        Weights are those of the parameters, or the dictionary's `master_weight`, which parameters then get.
        Options that only choose kernels stay as they are. :class:`ParameterError` for
        the state of something else, before anything is changed.
        """
        # As the last of the hooks, it sees what the others have made of the dictionary.
        handle = self.register_load_state_dict_pre_hook(lambda _, given: self._load(given))
        try:
            super().load_state_dict(state_dict)
        finally:
            handle.remove()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # load_state_dict comes here; the arrays are on the dies already.
        super().__setstate__({name: value for name, value in state.items() if name != "state"})

    def __getstate__(self) -> Never:
        raise ParameterError(
            f"{type(self).__name__} cannot be copied or pickled, its state is on a device; "
            "expected state_dict() to be saved"
        )

    # How it is done.

    def refuse(self, group: int, options: Mapping[str, Any]) -> None:
        """:class:`ParameterError` for the first option that is set."""
        for name, value in options.items():
            if value:
                kind = type(self).__name__
                raise ParameterError(
                    f"group {group} has {name}={value!r}; {kind} on the dies does not have it"
                )

    def _step_of(
        self,
        gradients: Mapping[Tensor, Tensor],
        unscale: float,
        agreement: OwnStep,
        begun: OpenStep | None,
    ) -> GradientReport | None:
        """Take a step; None if there is none to take. Of several ranks each takes it with its shards.

        begun: a step that is under way, which may be this one.
        """
        if not gradients and self._ranks.count == 1:
            return None
        steps, negated = self._steps(), self._negated()
        kind_of, reason = self._kind_of(steps), None
        if self._dies.changed():
            reason = "parameters were written to"
        elif not self._dies.fits(self._placeable(), gradients, steps, kind_of):
            reason = "other parameters had gradients"
        elif not self._is_in_order():
            reason = "gradients came in another order"
        rearranged = reason is not None
        if begun is not None and reason is None:
            reason = self._dies.difference(begun, gradients, negated, steps, unscale)
        if begun is not None and reason is not None:
            begun.drop()
            begun = None
        if rearranged:
            self._dies.rearrange(self._refined(gradients, steps), steps)
        before, self._counted = self._dies.updates, [self.counted(group) for group in self.param_groups]
        try:
            report = self._dies.step(
                gradients, negated, steps, unscale, self.max_norm, self.host_state(), agreement, begun
            )
        finally:
            if self._dies.updates > before:
                for group, counted in zip(self.param_groups, self._counted, strict=True):
                    group.update(counted)
            self._counted = []
        self._learn(gradients, begun is not None, reason)
        return report

    # Steps that begin during the backward pass.

    def _begin(self, stepping: Collection[Tensor]) -> OpenStep | None:
        """Begin a step of these parameters; None if they are not stored such that it can."""
        steps = self._steps()
        if not self._dies.fits(self._placeable(), stepping, steps, self._kind_of(steps)):
            return None
        scaler = None if self._scaler is None else self._scaler()
        unscale = 1.0 if scaler is None else 1 / scaler.get_scale()
        return self._dies.begin(stepping, self._negated(), steps, unscale)

    def _is_in_order(self) -> bool:
        """Whether the cells are in the order of the gradients, or have to stay as they are."""
        cells = self._dies.cells
        return any(cell.steps for cell in cells) or self._ordered(cells) == list(cells)

    def _ordered(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells in the order in which their gradients come.

        Bits of stochastic rounding depend on the places, so these cells stay where steps that begin behind
        the backward pass have them.
        """
        if self._overlap is None or self._storage.rounding is Rounding.STOCHASTIC:
            return list(cells)
        return in_order_of_arrival(cells, self._overlap.arrivals)

    def _learn(self, gradients: Collection[Tensor], taken: bool, reason: str | None) -> None:
        if self._overlap is None:
            return
        was_over = self._overlap.is_over
        self._overlap.learn(gradients, taken, reason or "")
        self._overlap.watch(self._reported())
        if self._overlap.is_over and not was_over:
            warnings.warn(
                f"{type(self).__name__} does not overlap any more: its last steps began during the backward"
                f" pass and were taken anew, because {self._overlap.reason}",
                RuntimeWarning,
                stacklevel=4,
            )

    def _reported(self) -> list[Tensor]:
        """The parameters whose hooks report their final gradients.

        Several ranks join the gradients of plain tensors after the hooks, as `DistributedDataParallel` does,
        and those of DTensors before.
        """
        return [p for p in self._members() if self._ranks.count == 1 or is_distributed(p)]

    def _forget_begun(self) -> None:
        if self._overlap is not None:
            self._overlap.forget()

    def _negated(self) -> list[bool]:
        return [bool(group.get("maximize")) for group in self.param_groups]

    def _facts(self, device: Device) -> dict[str, object]:
        """Facts that are equal on all ranks which step together, by the words of messages."""
        gradient, copy = self._formats
        return {
            "the preset": device.config.name,
            "a configuration of it with the checksum": crc32(repr(device.config).encode()),
            "the node": device.node.name,
            "a node of this name with the checksum": crc32(repr(device.node).encode()),
            "the optimizer": type(self).__name__,
            "gradient_format": gradient and gradient.name,
            "copy_format": copy and copy.name,
            "the storage": repr(self._storage),
            "own_parameters": self._own_parameters,
        }

    def _members(self) -> list[Tensor]:
        return members_of(self.param_groups)

    def _note_of(
        self,
        cells: Sequence[Cell],
        tensors: Sequence[Sequence[TensorGroup]],
        stepped: bool,
        host: bytes,
        ahead: int,
    ) -> bytes:
        place, groups = self._ranks.place(ahead), self.param_groups
        if self._counted:
            groups = [{**group, **counted} for group, counted in zip(groups, self._counted, strict=True)]
        return CommitNote.of(groups, cells, tensors, stepped, host, place).pack()

    def _note(self) -> CommitNote:
        """The recorded note of the current generation; :class:`JournalMissing` in a node without one."""
        if not self._dies.stored.takes_notes:
            raise JournalMissing("a pin of an optimizer in a node without a journal, which would record it")
        return CommitNote.unpack(self._dies.stored.note())

    def _attach(self) -> None:
        """Go on with the newest generation that the dies of all ranks hold.

        :class:`ParameterError` if that is another's, :class:`StateMissing` if there is none.
        """
        found = self._ranks.agreed(self._dies.recorded)[self._ranks.rank]
        notes = self._ranks.agreed(lambda: [CommitNote.unpack(raw) for raw in found])[self._ranks.rank]
        number = self._ranks.common([note.place for note in notes], self._dies.streams)
        self._ranks.agreed(lambda: self._attach_to(notes[number], found[number]))
        if self._ranks.count > 1:
            self._keep_common_pins()

    def _keep_common_pins(self) -> None:
        """Delete the checkpoints that other ranks do not have: the pin, or its end, was cut."""
        pins = self.checkpoints
        names = self._ranks.agreed(lambda: {one.name: one.step for one in pins.checkpoints})
        own = names[self._ranks.rank]
        surplus = [name for name in own if any(other.get(name) != own[name] for other in names)]

        def delete() -> None:
            for name in surplus:
                pins.delete(name)
            pins.release_surplus()

        self._ranks.agreed(delete)

    def _attach_to(self, note: CommitNote, raw: bytes) -> None:
        note.require_model(self.param_groups)
        steps, members, cells, tensors = self._steps(), self._members(), [], []
        for noted in note.cells:
            cell = noted.cell(members)
            step = steps[cell.group]
            if [len(arrays) for arrays in step.layout] != [len(used(code)) for code in noted.codes]:
                found = " and ".join(code.name for code in noted.codes)
                raise ParameterError(
                    f"group {cell.group} has state of {found} on the dies; {step.name} differs"
                )
            if any(self._formats_of(p) != cell.formats for p in cell.parameters):
                raise ParameterError(f"group {cell.group} has {cell.formats} on the dies; expected the same")
            cells.append(cell)
            tensors.append(cell.tensors(step.regions(cell.formats)))
        self._require_counted(note)
        self._dies.attach(cells, tensors, _host_of(note), raw)
        self._take(note)

    def _require_counted(self, note: CommitNote) -> None:
        """:class:`ParameterError` for the note of a state that was loaded, if steps change options: it has
        none."""
        counted = [name for group in self.param_groups for name in self.counted(group)]
        if counted and note.options is None and any(cell.steps for cell in note.cells):
            raise ParameterError(
                "the state on the dies was loaded from a dictionary, and no step since has recorded "
                f"{', '.join(dict.fromkeys(counted))}; expected a new optimizer, and load_state_dict() again"
            )

    def _take(self, note: CommitNote) -> None:
        """Go on behind this note, which the dies have the state of, with the options that steps change."""
        self._recovered = note
        for number, group in enumerate(self.param_groups):
            noted = note.options or []
            options = noted[number] if number < len(noted) else self.defaults
            group.update({name: options[name] for name in self.counted(group) if name in options})

    def _steps(self) -> list[GroupStep]:
        return [self.step_of(number, group) for number, group in enumerate(self.param_groups)]

    def _formats_of(self, parameter: Tensor) -> Formats:
        return Formats.of(parameter.dtype, *self._formats, self._storage)

    def _kind_of(self, steps: Sequence[GroupStep]) -> KindOf:
        number_of = groups_of(self._placeable())

        def kind_of(parameter: Tensor) -> Kind:
            number = number_of.get(parameter)
            factor = 1.0 if number is None else steps[number].rate_factor(parameter)
            return Kind(self._formats_of(parameter), self._ranks.counts(parameter), factor)

        return kind_of

    def _placeable(self) -> list[list[Tensor]]:
        return [[p for p in group["params"] if shard(p).numel()] for group in self.param_groups]

    def _refined(self, stepping: Collection[Tensor], steps: Sequence[GroupStep]) -> list[Cell]:
        return self._ordered(refined(self._dies.cells, self._placeable(), stepping, self._kind_of(steps)))

    def _gradients(self) -> dict[Tensor, Tensor]:
        """Gradients by parameter, all checked."""
        gradients = {}
        for number, group in enumerate(self.param_groups):
            for index, parameter in enumerate(group["params"]):
                if parameter.grad is None:
                    continue
                name = name_of(group, number, index)
                check_parameter(name, parameter, self._formats[1])
                gradient = shard_like(parameter, parameter.grad, f"the gradient of {name}")
                check_gradient(name, gradient)
                if gradient.numel():
                    gradients[parameter] = gradient
        return gradients

    def _load(self, given: dict[str, Any]) -> dict[str, Any]:
        """Store the content of a dictionary on the dies; returns it as the base is to take it."""
        for key, kind in (("state", Mapping), ("param_groups", list)):
            if not isinstance(given.get(key), kind):
                raise ParameterError(f"the state dictionary has no {key!r}; expected what state_dict() gave")
        own = self.param_groups
        saved = given["param_groups"]
        names = [self.names_of({**one, **group}) for one, group in zip(own, saved, strict=False)]
        loaded = LoadedState.of(given["state"], saved, own, names, self._storage.host_dtype)
        groups = [self._checked_group(number, group) for number, group in enumerate(saved)]
        steps = [
            self.step_of(number, {**group, "params": own[number]["params"]})
            for number, group in enumerate(groups)
        ]
        for number, (group, step) in enumerate(zip(self._placeable(), steps, strict=True)):
            for array, name in names[number].arrays.items():
                if array not in step.arrays and any(p in loaded.values[array] for p in group):
                    raise ParameterError(f"group {number} has {name}, which {step.name} does not use")
        placed = [[p for p in group if p.requires_grad or p in loaded.steps] for group in self._placeable()]
        cells = made(placed, lambda p: loaded.steps.get(p, 0), self._kind_of(steps))
        updates = max(loaded.steps.values(), default=0)
        self._forget_begun()
        self._ranks.agreed(lambda: self._dies.store(cells, steps, loaded.values, updates))
        self._dies.write(loaded.values[Input.W])
        return {**given, "param_groups": groups}

    def _checked_group(self, number: int, group: Mapping[str, Any]) -> dict[str, Any]:
        kernels = {name: self.defaults[name] for name in KERNELS if name in self.defaults}
        # Options that older versions of PyTorch did not have.
        options = {name: self.defaults[name] for name in self.defaults if name not in self.hyperparameters}
        full = options | dict(group) | kernels
        if missing := [name for name in self.hyperparameters if name not in full]:
            raise ParameterError(f"group {number} of the state dictionary has no {', '.join(missing)}")
        return full


def _host_of(note: CommitNote) -> bytes | None:
    """The host's state that a step has recorded, or None before any."""
    return None if note.options is None else note.host


def _cause(report: GradientReport | None) -> str:
    if report is None or not report.nans + report.infinities:
        return "the squares of the gradients overflow"
    return f"{report.nans} gradients are NaN, {report.infinities} infinite"
