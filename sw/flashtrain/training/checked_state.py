"""A state dictionary, as `torch.optim` has them, taken apart and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtrain.training.arrays import FloatArray
from flashtrain.training.errors import ParameterError
from flashtrain.training.parameters import PARAMS

MOST_STEPS = (1 << 32) - 1
"""The journal has 32 bits for the number of updates."""


@dataclass(frozen=True)
class CheckedState:
    """The content of a state dictionary.

    groups: its `"param_groups"`; step: of all parameters; by_name: arrays of each name, by group and
    parameter, whose shapes and dtypes are not checked here.
    """

    groups: tuple[Mapping[str, Any], ...]
    step: int
    by_name: dict[str, list[list[FloatArray]]]

    @classmethod
    def of(cls, given: object, numbers: Sequence[Sequence[int]], names: Sequence[str]) -> "CheckedState":
        """numbers: of the parameters, by group; names: of the arrays that a parameter has.

        :class:`ParameterError` for anything else.
        """
        if not isinstance(given, Mapping):
            raise ParameterError(f"the state dictionary is a {type(given).__name__}; expected a dictionary")
        for key, kind in (("state", Mapping), ("param_groups", Sequence)):
            if not isinstance(given.get(key), kind):
                got = f"is a {type(given[key]).__name__}" if key in given else "is missing"
                expected = "a dictionary" if kind is Mapping else "a list"
                raise ParameterError(f"{key!r} of the state dictionary {got}; expected {expected}")
        groups, state = tuple(given["param_groups"]), given["state"]
        for index, group in enumerate(groups):
            if not isinstance(group, Mapping) or not isinstance(group.get(PARAMS), Sequence):
                raise ParameterError(
                    f"group {index} of the state dictionary has no {PARAMS!r}; expected a list of numbers"
                )
        found = [list(group[PARAMS]) for group in groups]
        if found != [list(group) for group in numbers]:
            raise ParameterError(f"state of groups {found}; expected {[list(group) for group in numbers]}")
        steps = {}
        for index in (i for group in numbers for i in group):
            own = state.get(index, {})
            if not isinstance(own, Mapping):
                got = type(own).__name__
                raise ParameterError(f"state of parameter {index} is a {got}; expected a dictionary")
            if missing := [name for name in ("step", *names) if name not in own]:
                raise ParameterError(f"state of parameter {index} has no {', '.join(missing)}")
            steps[index] = _step(index, own["step"])
        first = next(iter(steps))
        for index, step in steps.items():
            if step != steps[first]:
                raise ParameterError(
                    f"step of parameter {index} is {step}; expected {steps[first]}, as of parameter {first}"
                )
        by_name = {name: [[state[i][name] for i in group] for group in numbers] for name in names}
        return cls(groups, steps[first], by_name)


def _step(index: int, value: Any) -> int:
    try:
        exact = float(value)
    except (TypeError, ValueError, OverflowError):
        exact = -1.0
    if isinstance(value, str | bool) or not exact.is_integer() or not 0 <= exact <= MOST_STEPS:
        raise ParameterError(
            f"step of parameter {index} is {value!r}; expected an integer from 0 to {MOST_STEPS}"
        )
    return int(exact)
