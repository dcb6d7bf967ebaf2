"""The constants of one step: what a controller broadcasts to everything that updates."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TypeVar

import numpy as np

from flashtrain.spec.optimizer import (
    CONSTANT_WORDS,
    PROGRAMS,
    AdamConstant,
    Constant,
    LinearConstant,
    LionConstant,
    OptimizerCode,
    ScheduleFreeConstant,
    SgdConstant,
)

from .errors import HyperparameterError

Named = TypeVar("Named", SgdConstant, LinearConstant, AdamConstant, LionConstant, ScheduleFreeConstant)


@dataclass(frozen=True)
class Constants:
    """Float32 numbers for the program of `code`, in the order of its constants (`Program.constants`).

    Everything that is the same for all parameters in a step is in them: learning rate, bias correction,
    weight decay, and with SCALE, unscaling and clipping of the gradient. Raises `HyperparameterError` unless
    all that the program has are given.
    """

    code: OptimizerCode
    values: tuple[np.float32, ...]

    def __post_init__(self) -> None:
        expected = len(PROGRAMS[self.code].constants)
        if len(self.values) != expected or any(value.dtype != np.float32 for value in self.values):
            raise HyperparameterError(
                f"constants of {self.code.name} are {self.values}; expected {expected} of type float32"
            )

    @classmethod
    def rounded(cls, code: OptimizerCode, values: Mapping[Named, float]) -> "Constants":
        """Each of `values`, given by name, rounded once."""
        return cls(code, tuple(float32(c.name, value) for c, value in sorted(values.items())))

    def __getitem__(self, constant: Constant) -> np.float32:
        return self.values[constant]

    @property
    def words(self) -> tuple[int, ...]:
        """The `CONSTANT_WORDS` words of the broadcast: bits of the numbers, then zeros."""
        words = [int(value.view(np.uint32)) for value in self.values]
        return (*words, *[0] * (CONSTANT_WORDS - len(words)))

    @classmethod
    def from_words(cls, code: OptimizerCode, words: tuple[int, ...]) -> "Constants":
        """Undo `words`."""
        used = words[: len(PROGRAMS[code].constants)]
        return cls(code, tuple(np.uint32(word).view(np.float32) for word in used))


def float32(name: str, value: float) -> np.float32:
    """`value` rounded to nearest; `HyperparameterError` for NaN and for what rounds to infinity or to 0."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = np.float32(value)
    if isnan(value) or (isfinite(value) and not np.isfinite(rounded)):
        raise HyperparameterError(f"{name} is {value!r}; expected a number within the range of float32")
    if value != 0 and rounded == 0:
        raise HyperparameterError(
            f"{name} is {value!r}, which rounds to 0; expected 0 or a magnitude that float32 has"
        )
    return rounded
