"""Formats in which the dies store weights and optimizer state, and the rounding into them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import Input
from flashtrain.spec.state_format import Rounding, StateFormat, StateFormats
from flashtrain.training.errors import ParameterError

_FORMATS = {
    torch.float32: StateFormat.FP32,
    torch.bfloat16: StateFormat.BF16,
    torch.float8_e4m3fn: StateFormat.FP8,
}
_DTYPES = {form: dtype for dtype, form in _FORMATS.items()}
_OF_WEIGHTS = (torch.float32, torch.bfloat16, StateFormat.SPLIT)
WeightFormat = torch.dtype | StateFormat
"""Of the weights on the dies: a dtype, or `StateFormat.SPLIT`, float32 in two halves."""
_MOST_SEED = (1 << 64) - 1


@dataclass(frozen=True)
class Storage:
    """Formats of weights and of state (momentum, moments) on the dies.

    Members
    -------
    weight, state: of an array each.
    rounding: of results that are stored in 16 or 8 bits.
    seed: of stochastic rounding.
    """

    weight: StateFormat = StateFormat.FP32
    state: StateFormat = StateFormat.FP32
    rounding: Rounding = Rounding.NEAREST
    seed: int = 0

    @classmethod
    def of(
        cls,
        weight_dtype: WeightFormat = torch.float32,
        state_dtype: torch.dtype = torch.float32,
        rounding: Rounding = Rounding.NEAREST,
        seed: int = 0,
    ) -> "Storage":
        """The storage of these dtypes; :class:`ParameterError` for what the dies do not have."""
        for name, dtype, known in (
            ("weight_dtype", weight_dtype, _OF_WEIGHTS), ("state_dtype", state_dtype, tuple(_FORMATS)),
        ):  # fmt: skip
            if not isinstance(dtype, WeightFormat) or dtype not in known:
                *others, last = (
                    f"StateFormat.{one.name}" if isinstance(one, StateFormat) else str(one) for one in known
                )
                raise ParameterError(f"{name} is {dtype!r}; expected {', '.join(others)} or {last}")
        if not isinstance(rounding, Rounding):
            raise ParameterError(
                f"rounding is {rounding!r}; expected Rounding.NEAREST or Rounding.STOCHASTIC"
            )
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= _MOST_SEED:
            raise ParameterError(f"seed is {seed!r}; expected an integer from 0 to {_MOST_SEED}")
        weight = StateFormat.SPLIT if weight_dtype is StateFormat.SPLIT else _FORMATS[weight_dtype]
        return cls(weight, _FORMATS[state_dtype], rounding, seed)

    @property
    def state_dtype(self) -> torch.dtype:
        return _DTYPES[self.state]

    @property
    def host_dtype(self) -> torch.dtype:
        """Of the state in the host and in dictionaries; BF16 has all numbers that FP8 stores, with scales."""
        return torch.bfloat16 if self.state is StateFormat.FP8 else self.state_dtype

    def require_for(self, optimizer: str, config: FmsConfig, scaled: bool) -> None:
        """:class:`ParameterError` unless optimizer and device can keep the state so.

        scaled: the optimizer's state is moments of gradients, in the places of m and v.
        """
        if self.state is not StateFormat.FP8:
            return
        if not scaled:
            raise ParameterError(
                f"state_dtype is {self.state_dtype}; expected torch.float32 or torch.bfloat16 for "
                f"{optimizer}, whose state is weights or takes their place"
            )
        if not config.fp8_state:
            raise ParameterError(
                f"state_dtype is {self.state_dtype}; expected torch.float32 or torch.bfloat16 on "
                f"{config.name!r}, or a device with fp8_state = true in its configuration"
            )

    def formats_of(self, arrays: Sequence[Input]) -> StateFormats:
        """The formats of a tile with these arrays."""
        first, *others = (self.weight if array is Input.W else self.state for array in arrays)
        return StateFormats(first, others[0] if others else StateFormat.FP32)


PLAIN = Storage()
"""All in float32."""
