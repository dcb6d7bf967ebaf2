"""Parameters and groups of them, as `torch.optim` has them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

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
            convert = ": .astype(np.float32) converts it" if isinstance(self.data, np.ndarray) else ""
            raise ParameterError(f"a parameter is {kind}; expected a float32 array{convert}")
        if not self.data.flags.writeable:
            raise ParameterError("a parameter is read-only; expected an array that steps may change")


Params = Iterable[Array | Parameter] | Iterable[Mapping[str, Any]]


def make_groups(params: Params, optimizer: Optimizer) -> list[ParamGroup]:
    """Groups with all hyperparameters, those of `optimizer` where a group has none of its own.

    :class:`ParameterError` for no parameters, the same one twice, parameters that share memory, and
    hyperparameters that do not exist; :class:`HyperparameterError` for those out of range.
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
    require_separate([parameter.data for group in groups for parameter in group[PARAMS]])
    return groups


def require_unchanged_layout(parameters: Sequence[Parameter], shapes: Sequence[tuple[int, ...]]) -> None:
    """:class:`ParameterError` unless new weights of these shapes can be written to the parameters."""
    for index, (parameter, shape) in enumerate(zip(parameters, shapes, strict=True)):
        data = parameter.data
        if not isinstance(data, np.ndarray) or (data.shape, data.dtype) != (shape, np.float32):
            got = f"{data.dtype}{list(data.shape)}" if isinstance(data, np.ndarray) else type(data).__name__
            raise ParameterError(f"parameter {index} is {got} now; expected float32{list(shape)} as before")
        if not data.flags.writeable:
            raise ParameterError(f"parameter {index} is read-only now; expected a writable array")


def require_separate(arrays: Sequence[FloatArray]) -> None:
    """:class:`ParameterError` for elements that share memory, of one array or of two."""
    bounds = []
    for index, array in enumerate(arrays):
        if any(stride == 0 and size > 1 for stride, size in zip(array.strides, array.shape, strict=True)):
            raise ParameterError(f"elements of parameter {index} share memory; expected a copy of the array")
        bounds.append((*byte_bounds(array), index))
    reaching: list[tuple[int, int]] = []  # where arrays end that begin before, and their indices
    for begin, end, index in sorted(bounds):
        reaching = [(other_end, other) for other_end, other in reaching if other_end > begin]
        for _, other in reaching:
            if np.shares_memory(arrays[other], arrays[index]):
                first, second = sorted((other, index))
                raise ParameterError(f"parameters {first} and {second} share memory; expected separate ones")
        reaching.append((end, index))


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


def with_hyperparameters(number: int, group: Mapping[str, Any], optimizer: Optimizer) -> Optimizer:
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
