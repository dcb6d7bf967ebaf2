"""Formats in which the numbers of a parameter travel between PyTorch and the dies."""

from dataclasses import dataclass

import numpy as np
import torch
from crc32c import crc32c
from torch import Tensor

from flashtrain.numerics import copy_of, gradient_values, gradients_in
from flashtrain.numerics.state_format import upper_halves
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.state_format import StateFormat
from flashtrain.torch.accelerators import bytes_of, write_from_host
from flashtrain.torch.ranks.shards import shard
from flashtrain.torch.tensor_kinds import materialized
from flashtrain.training.arrays import Array, FloatArray

from .storage import PLAIN, Storage

GRADIENTS = {
    torch.float32: GradientFormat.FP32,
    torch.float16: GradientFormat.FP16,
    torch.bfloat16: GradientFormat.BF16,
}
"""The dtypes that a parameter may have, and the format of its gradients by default."""

COPIES = {
    torch.float32: CopyFormat.NONE,
    torch.float16: CopyFormat.FP16,
    torch.bfloat16: CopyFormat.BF16,
}
"""The format in which new weights come back by default."""


@dataclass(frozen=True)
class Formats:
    """Formats of the gradients of a parameter, of the copies of its new weights, and on the dies."""

    gradient: GradientFormat
    copy: CopyFormat
    storage: Storage = PLAIN

    @classmethod
    def of(
        cls,
        dtype: torch.dtype,
        gradient: GradientFormat | None,
        copy: CopyFormat | None,
        storage: Storage = PLAIN,
    ) -> "Formats":
        """The formats for a parameter of `dtype`, unless others are given."""
        return cls(
            GRADIENTS[dtype] if gradient is None else gradient,
            COPIES[dtype] if copy is None else copy,
            storage,
        )

    @property
    def are_halves(self) -> bool:
        """Whether parameters get the upper halves of weights in SPLIT, which are read from the state."""
        return self.storage.weight is StateFormat.SPLIT and self.copy is CopyFormat.BF16

    @property
    def sent(self) -> CopyFormat:
        """Of the copies that the dies send."""
        return CopyFormat.NONE if self.are_halves else self.copy

    def given(self, weights: FloatArray) -> Array:
        """The weights that a parameter gets after a step, from those on the dies."""
        copy = upper_halves(weights) if self.are_halves else copy_of(weights, self.copy)
        return weights if copy is None else copy


def is_rounded(parameter: Tensor, formats: Formats) -> bool:
    """Whether the parameter has fewer bits than its weights on the dies."""
    if formats.storage.weight is StateFormat.BF16:
        return False
    return formats.copy is not CopyFormat.NONE or parameter.dtype is not torch.float32


def float32_of(tensor: Tensor) -> FloatArray:
    """The numbers of the shard as a float32 array, which may share memory with the tensor."""
    return materialized(shard(tensor)).to(torch.float32).numpy()


def gradient_of(gradient: Tensor, form: GradientFormat, negated: bool) -> Array:
    """A gradient, or its negative, in this format: rounded to nearest even, BF16 as uint16."""
    host = materialized(gradient)
    host = -host if negated else host
    if form is not GRADIENTS[host.dtype]:
        return gradients_in(form, host.to(torch.float32).numpy())
    if host.dtype is torch.bfloat16:
        return host.view(torch.int16).numpy().view(np.uint16)
    return host.numpy()


def set_weights(parameter: Tensor, weights: Array) -> None:
    """Write weights (float32, or 16-bit copies, BF16 as uint16) to the shard of a parameter in place."""
    write_from_host(shard(parameter).detach(), torch.from_numpy(gradient_values(weights)))


def checksum(parameter: Tensor) -> int:
    """A check of the bytes of a parameter, which finds changes that its version counter does not show."""
    return crc32c(bytes_of(materialized(shard(parameter))).numpy().data)
