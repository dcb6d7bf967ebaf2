"""`optimizer.state` of an optimizer whose state is on the dies: a view that reads it."""

from collections.abc import ItemsView, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from flashtrain.spec.optimizer import Input
from flashtrain.training.arrays import FloatArray

from .die_state import DieState
from .formats import is_rounded

MASTER_WEIGHT = "master_weight"
"""The float32 weights of a parameter that has fewer bits."""


class StateView(Mapping[Tensor, dict[str, Any]]):
    """State by parameter in PyTorch's form, as copies: a change of them changes nothing on the dies.

    Parameters that never took a step have none.

    names: PyTorch's name of each array; counted: whether the state has `step`.
    """

    def __init__(self, dies: DieState, names: Mapping[Input, str], counted: bool) -> None:
        self._dies = dies
        self._names = names
        self._counted = counted

    def __getitem__(self, parameter: Tensor) -> dict[str, Any]:
        steps, named = self._kept()[parameter]
        arrays = {name: self._dies.read_one(parameter, array) for name, array in named.items()}
        return self._entry(parameter, steps, arrays)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._kept())

    def __len__(self) -> int:
        return len(self._kept())

    def __repr__(self) -> str:
        return f"<state of {len(self)} parameters on the dies>"

    def items(self) -> ItemsView[Tensor, dict[str, Any]]:
        """All of them, each array of a cell read at once."""
        kept = self._kept()
        needed = {array for _, named in kept.values() for array in named.values()}
        content = {array: self._dies.read(array) for array in needed}
        return {
            p: self._entry(p, steps, {name: content[array][p] for name, array in named.items()})
            for p, (steps, named) in kept.items()
        }.items()

    def _kept(self) -> dict[Tensor, tuple[int, dict[str, Input]]]:
        """Of each parameter with state its steps, and the names of the arrays."""
        kept = {}
        for cell, arrays in self._dies.contents:
            names = {name: array for array, name in self._names.items() if array in arrays}
            for p in cell.parameters:
                named = names | ({MASTER_WEIGHT: Input.W} if is_rounded(p, cell.formats) else {})
                if cell.steps and (named or self._counted):
                    kept[p] = cell.steps, named
        return kept

    def _entry(self, parameter: Tensor, steps: int, arrays: Mapping[str, FloatArray]) -> dict[str, Any]:
        entry: dict[str, Any] = {"step": torch.tensor(float(steps))} if self._counted else {}
        for name, array in arrays.items():
            entry[name] = torch.from_numpy(array).to(parameter.device)
        return entry
