"""Parameters and groups of them, as `torch.optim` has them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.errors import ParameterError
from flashtrain.training.optimizers import Optimizer

PARAMS = "params"

ParamGroup = dict[str, Any]
"""`"params"`, a list of :class:`Parameter`, and the hyperparameters of its optimizer by their names."""


@dataclass(eq=False)
class Parameter:
    """A tensor that is trained: float32 `data`, which steps change in place, and its gradient.

    `grad` has the shape of `data`, and is float32 or already in the format in which gradients are sent.
    """

    data: FloatArray
    grad: Array | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.data, np.ndarray) or self.data.dtype != np.float32:
            kind = getattr(self.data, "dtype", type(self.data).__name__)
            raise ParameterError(f"a parameter is {kind}; expected a float32 array")
        if not self.data.flags.writeable:
            raise ParameterError("a parameter is read-only; expected an array that steps may change")


Params = Iterable[Array | Parameter] | Iterable[Mapping[str, Any]]


def make_groups(params: Params, optimizer: Optimizer) -> list[ParamGroup]:
    """Groups with all hyperparameters, those of `optimizer` where a group has none of its own.

    :class:`ParameterError` for no parameters, the same one twice, and hyperparameters that do not exist;
    :class:`HyperparameterError` for those out of range.
    """
    given = list(params)
    if not given:
        raise ParameterError("no parameters; expected arrays, or dictionaries with 'params'")
    mappings = [one for one in given if isinstance(one, Mapping)]
    if len(mappings) != len(given):
        mappings = [{PARAMS: given}]
    groups = [_make_group(number, mapping, optimizer) for number, mapping in enumerate(mappings)]
    every = [id(parameter.data) for group in groups for parameter in group[PARAMS]]
    if len(set(every)) != len(every):
        raise ParameterError("a parameter is given twice")
    return groups


def _make_group(number: int, given: Mapping[str, Any], optimizer: Optimizer) -> ParamGroup:
    members = given.get(PARAMS)
    if isinstance(members, np.ndarray | Parameter):
        members = [members]
    if not members:
        raise ParameterError(f"group {number} has no 'params'; expected at least one array")
    parameters = [one if isinstance(one, Parameter) else Parameter(one) for one in members]
    group: ParamGroup = hyperparameters(optimizer) | dict(given) | {PARAMS: parameters}
    with_hyperparameters(number, group, optimizer)
    return group


def hyperparameters(optimizer: Optimizer) -> dict[str, Any]:
    """By name."""
    return {field.name: getattr(optimizer, field.name) for field in fields(optimizer)}


def with_hyperparameters(number: int, group: ParamGroup, optimizer: Optimizer) -> Optimizer:
    """The optimizer with the hyperparameters of a group, checked."""
    own = {name: value for name, value in group.items() if name != PARAMS}
    known = hyperparameters(optimizer)
    for name in own:
        if name not in known:
            raise ParameterError(f"group {number} has {name!r}; {optimizer.name} has {', '.join(known)}")
    return replace(optimizer, **own)


def gradients_of(groups: Sequence[ParamGroup], gradients: Sequence[Array] | None) -> list[list[Array]]:
    """Gradients by group: from a flat list in the order of the parameters, or from the parameters."""
    if gradients is None:
        for number, group in enumerate(groups):
            for index, parameter in enumerate(group[PARAMS]):
                if parameter.grad is None:
                    raise ParameterError(f"parameter {index} of group {number} has no gradient")
        return [[parameter.grad for parameter in group[PARAMS]] for group in groups]
    counts = [len(group[PARAMS]) for group in groups]
    if len(gradients) != sum(counts):
        raise ParameterError(f"{len(gradients)} gradients; expected {sum(counts)}")
    rest = iter(gradients)
    return [[next(rest) for _ in range(count)] for count in counts]
