"""A state dictionary of `torch.optim`, taken apart and checked before it goes to the dies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from flashtrain.host.state.tensor_group import ARRAYS
from flashtrain.spec.optimizer import Input
from flashtrain.torch.ranks.shards import shard_like
from flashtrain.torch.tensor_names import described
from flashtrain.training.arrays import FloatArray
from flashtrain.training.checked_state import MOST_STEPS
from flashtrain.training.errors import ParameterError

from .formats import float32_of
from .group_step import StateNames
from .parameter_check import name_of
from .state_view import MASTER_WEIGHT


@dataclass(frozen=True)
class LoadedState:
    """The content of a state dictionary for the parameters of some groups.

    Members
    -------
    values: arrays of state by parameter, and weights of those parameters that come with some.
    steps: steps of the parameters that have taken any.
    """

    values: dict[Input, dict[Tensor, FloatArray]]
    steps: dict[Tensor, int]

    @classmethod
    def of(
        cls,
        state: Mapping[Any, Any],
        saved: Sequence[Mapping[str, Any]],
        groups: Sequence[Mapping[str, Any]],
        named: Sequence[StateNames],
        dtype: torch.dtype = torch.float32,
    ) -> "LoadedState":
        """state, saved: parts of the dictionary; groups: those of the optimizer; named: their state;
        dtype: of the state on the dies.

        :class:`ParameterError` for anything that does not belong to these groups.
        """
        sizes = [len(group["params"]) for group in saved], [len(group["params"]) for group in groups]
        if sizes[0] != sizes[1]:
            raise ParameterError(
                f"the state dictionary has groups of {sizes[0]} parameters; expected {sizes[1]}"
            )
        keys = {key for group in saved for key in group["params"]}
        if unknown := [key for key in state if key not in keys]:
            raise ParameterError(
                f"the state dictionary has state of {unknown[0]!r}, which is in no group of it"
            )
        values: dict[Input, dict[Tensor, FloatArray]] = {array: {} for array in ARRAYS}
        steps = {}
        for number, (group, own, state_names) in enumerate(zip(saved, groups, named, strict=True)):
            names, counted, whole = state_names
            known = {MASTER_WEIGHT: Input.W} | {name: array for array, name in names.items()}
            for index, (key, parameter) in enumerate(zip(group["params"], own["params"], strict=True)):
                name = name_of(own, number, index)
                # PyTorch's SGD has an empty buffer before the first step.
                entry = {k: v for k, v in state.get(key, {}).items() if v is not None}
                if not entry:
                    continue
                _require(name, entry, [*(["step"] if counted else []), *(names.values() if whole else [])])
                steps[parameter] = _steps(name, entry.pop("step")) if counted else 1
                for what, value in entry.items():
                    if what not in known:
                        expected = ", ".join(names.values())
                        raise ParameterError(f"state of {name} has {what!r}; expected {expected}")
                    values[known[what]][parameter] = _array(f"{what} of {name}", value, parameter)
                    if known[what] is not Input.W:
                        _require_format(f"{what} of {name}", value, parameter, dtype)
        return cls(values, {parameter: taken for parameter, taken in steps.items() if taken})


def _require(name: str, entry: Mapping[str, Any], needed: Sequence[str]) -> None:
    if missing := [one for one in needed if one not in entry]:
        raise ParameterError(f"state of {name} has no {', '.join(missing)}")


def _array(name: str, value: Any, parameter: Tensor) -> FloatArray:
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.shape != parameter.shape:
        got = described(value) if isinstance(value, Tensor) else type(value).__name__
        raise ParameterError(f"{name} is {got}; expected float32{list(parameter.shape)}")
    # A copy, because the caller may go on to change its own.
    return float32_of(shard_like(parameter, value.detach(), name).to(torch.float32, copy=True))


def _require_format(name: str, value: Tensor, parameter: Tensor, dtype: torch.dtype) -> None:
    """:class:`ParameterError` for state of another format; PyTorch's has the dtype of its parameter."""
    if value.dtype == dtype or (dtype is torch.float32 and value.dtype == parameter.dtype):
        return
    if dtype is torch.float32 and value.dtype not in (torch.bfloat16, torch.float16):
        return
    raise ParameterError(
        f"{name} is {value.dtype}; expected {dtype}, the dtype of the optimizer's state: "
        f".to({dtype}) converts it"
    )


def _steps(name: str, value: Any) -> int:
    try:
        exact = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        exact = -1.0
    if not exact.is_integer() or not 0 <= exact <= MOST_STEPS:
        raise ParameterError(f"step of {name} is {value!r}; expected an integer from 0 to {MOST_STEPS}")
    return int(exact)
