"""Formats in which the dies store weights and optimizer state, and the rounding into them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from flashtrain.spec.optimizer import Input
from flashtrain.spec.state_format import Rounding, StateFormat, StateFormats
from flashtrain.training.errors import ParameterError

_FORMATS = {torch.float32: StateFormat.FP32, torch.bfloat16: StateFormat.BF16}
_DTYPES = {form: dtype for dtype, form in _FORMATS.items()}
_MOST_SEED = (1 << 64) - 1


@dataclass(frozen=True)
class Storage:
    """Formats of weights and of state (momentum, moments) on the dies.

    Members
    -------
    weight, state: of an array each.
    rounding: of results that are stored in 16 bits.
    seed: of stochastic rounding.
    """

    weight: StateFormat = StateFormat.FP32
    state: StateFormat = StateFormat.FP32
    rounding: Rounding = Rounding.NEAREST
    seed: int = 0

    @classmethod
    def of(
        cls,
        weight_dtype: torch.dtype = torch.float32,
        state_dtype: torch.dtype = torch.float32,
        rounding: Rounding = Rounding.NEAREST,
        seed: int = 0,
    ) -> "Storage":
        """The storage of these dtypes; :class:`ParameterError` for what the dies do not have."""
        for name, dtype in (("weight_dtype", weight_dtype), ("state_dtype", state_dtype)):
            if not isinstance(dtype, torch.dtype) or dtype not in _FORMATS:
                raise ParameterError(f"{name} is {dtype!r}; expected torch.float32 or torch.bfloat16")
        if not isinstance(rounding, Rounding):
            raise ParameterError(
                f"rounding is {rounding!r}; expected Rounding.NEAREST or Rounding.STOCHASTIC"
            )
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= _MOST_SEED:
            raise ParameterError(f"seed is {seed!r}; expected an integer from 0 to {_MOST_SEED}")
        return cls(_FORMATS[weight_dtype], _FORMATS[state_dtype], rounding, seed)

    @property
    def state_dtype(self) -> torch.dtype:
        return _DTYPES[self.state]

    def formats_of(self, arrays: Sequence[Input]) -> StateFormats:
        """The formats of a tile with these arrays."""
        first, *others = (self.weight if array is Input.W else self.state for array in arrays)
        return StateFormats(first, others[0] if others else StateFormat.FP32)


PLAIN = Storage()
"""All in float32."""
