"""`optimizer.state` of an optimizer whose state is on the dies: a view that reads it."""

from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, Never

import torch
from torch import Tensor

from flashtrain.spec.optimizer import Input
from flashtrain.torch.change_counter import ChangeCounter
from flashtrain.torch.ranks.shards import as_distributed, is_distributed, shard
from flashtrain.training.arrays import FloatArray
from flashtrain.training.errors import ParameterError

from .die_state import DieState
from .formats import is_rounded
from .group_step import StateNames

MASTER_WEIGHT = "master_weight"
"""The float32 weights of a parameter that has fewer bits."""


def _refuse(*_: object, **__: object) -> Never:
    raise ParameterError("the state is on the dies; expected load_state_dict() to change it")


class StateEntry(dict[str, Any]):
    """The state of a parameter as it was read. Changes are refused, unless they change nothing.

    Copies and pickles are dictionaries.
    """

    __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __setitem__(self, name: str, tensor: object) -> None:
        """Take what is there already, such as a copy on another device; refuse anything else."""
        if name not in self or not _equal(self[name], tensor):
            _refuse()

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def with_own_entries(saved: dict[str, Any]) -> dict[str, Any]:
    """A state dictionary whose entries may be changed."""
    return {**saved, "state": {key: dict(entry) for key, entry in saved["state"].items()}}


class ShownTensors:
    """The tensors that views have given away since the last check, without keeping them."""

    def __init__(self) -> None:
        self._counters: list[tuple[str, ChangeCounter]] = []

    def add(self, name: str, tensor: Tensor) -> None:
        self._counters.append((name, ChangeCounter(shard(tensor))))

    def check(self) -> None:
        """:class:`ParameterError` if somebody has written to one: it would be a write without an effect."""
        shown, self._counters = self._counters, []
        for name, counter in shown:
            if counter.changed:
                raise ParameterError(
                    f"{name} of optimizer.state was written to, which is a copy of the state on the dies;"
                    " expected load_state_dict() to change it"
                )


class _Kept(NamedTuple):
    """The state of a parameter: its steps, if PyTorch's has them, and its arrays by PyTorch's names.

    dtype: of state on the dies.
    """

    steps: int | None
    arrays: dict[str, Input]
    dtype: torch.dtype


class StateView(MutableMapping[Tensor, dict[str, Any]]):
    """State by parameter in PyTorch's form, as copies. Changes are refused, unless they change nothing.

    Parameters that never took a step have none, and neither have parameters without elements. As with
    PyTorch's own, their entry is empty.

    names: of the state, by group; members: the parameters of all groups, in the order of the view; shown:
    gets the tensors.
    """

    def __init__(
        self, dies: DieState, names: Sequence[StateNames], members: Sequence[Tensor], shown: ShownTensors
    ) -> None:
        self._dies = dies
        self._names = names
        self._members = members
        self._shown = shown

    def __getitem__(self, parameter: Tensor) -> dict[str, Any]:
        kept = self._kept()
        if parameter not in kept:
            return StateEntry()
        one = kept[parameter]
        arrays = {name: self._dies.read_one(parameter, array) for name, array in one.arrays.items()}
        return self._entry(parameter, one, arrays)

    def __setitem__(self, parameter: Tensor, entry: Mapping[str, Any]) -> None:
        """Take what is there already; refuse anything else."""
        own = self[parameter]
        if own.keys() != entry.keys() or not all(_equal(own[name], entry[name]) for name in own):
            _refuse()

    def __delitem__(self, parameter: Tensor) -> None:
        _refuse()

    def __contains__(self, parameter: object) -> bool:
        return parameter in self._kept()

    def get(self, parameter: Tensor, default: Any = None) -> Any:
        return self[parameter] if parameter in self else default

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._kept())

    def __len__(self) -> int:
        return len(self._kept())

    def __repr__(self) -> str:
        return f"<state of {len(self)} parameters on the dies>"

    def items(self) -> ItemsView[Tensor, dict[str, Any]]:
        """All of them, each array of a cell read at once."""
        kept = self._kept()
        needed = {array for one in kept.values() for array in one.arrays.values()}
        content = {array: self._dies.read(array) for array in needed}
        return {
            p: self._entry(p, one, {name: content[array][p] for name, array in one.arrays.items()})
            for p, one in kept.items()
        }.items()

    def _kept(self) -> dict[Tensor, _Kept]:
        """The state of each parameter that has any."""
        kept = {}
        for cell, arrays in self._dies.contents:
            if cell.group >= len(self._names):  # its group was removed
                continue
            known, counted, _ = self._names[cell.group]
            names = {name: array for array, name in known.items() if array in arrays}
            for p in cell.parameters:
                named = names | ({MASTER_WEIGHT: Input.W} if is_rounded(p, cell.formats) else {})
                if cell.steps and (named or counted):
                    dtype = cell.formats.storage.host_dtype
                    kept[p] = _Kept(cell.steps if counted else None, named, dtype)
        return {p: kept[p] for p in self._members if p in kept} | kept

    def _entry(self, parameter: Tensor, kept: _Kept, arrays: Mapping[str, FloatArray]) -> dict[str, Any]:
        entry: dict[str, Any] = {} if kept.steps is None else {"step": torch.tensor(float(kept.steps))}
        for name, array in arrays.items():
            dtype = torch.float32 if name == MASTER_WEIGHT else kept.dtype
            tensor = torch.from_numpy(array).to(parameter.device, dtype)
            entry[name] = as_distributed(parameter, tensor)
        for name, tensor in entry.items():
            self._shown.add(name, tensor)
        return StateEntry(entry)


def _equal(own: Tensor, given: Any) -> bool:
    if not isinstance(given, Tensor) or is_distributed(own) != is_distributed(given):
        return False
    mine, other = shard(own), shard(given)
    return mine.shape == other.shape and torch.equal(mine, other.to(mine))
