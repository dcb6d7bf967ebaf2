"""Number formats of activations: as they pass between layers, and as the flash has them."""

from enum import StrEnum

import numpy as np

from flashtrain.numerics.float32 import from_bfloat16, from_float16, to_bfloat16, to_float16
from flashtrain.training.arrays import BFLOAT16, FLOAT16, FLOAT32, Array, ArraySpec


class ActivationFormat(StrEnum):
    """The format of activations, which layers compute with in float32.

    A format of 16 bits rounds to nearest even. It rounds the numbers that pass from a layer to the next, in
    both passes, and the float32 arrays that a layer saves. Half the bytes go to the flash. Weights, their
    gradients, the network's output and its loss stay float32.
    """

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"

    @property
    def dtype(self) -> str:
        """The element type of stored activations."""
        return {ActivationFormat.FP32: FLOAT32, ActivationFormat.FP16: FLOAT16}.get(self, BFLOAT16)

    def spec(self, spec: ArraySpec) -> ArraySpec:
        """The stored array for an array of `spec`."""
        return ArraySpec(spec.shape, self.dtype) if spec.dtype == FLOAT32 else spec

    def store(self, array: Array) -> Array:
        """The stored array of a saved one; arrays that are not float32 stay."""
        if array.dtype != np.float32 or self is ActivationFormat.FP32:
            return array
        return to_float16(array) if self is ActivationFormat.FP16 else to_bfloat16(array)

    def load(self, array: Array, spec: ArraySpec) -> Array:
        """The saved array, of `spec`, from the stored one."""
        if spec.dtype != FLOAT32 or self is ActivationFormat.FP32:
            return array
        return from_float16(array) if self is ActivationFormat.FP16 else from_bfloat16(array)

    def rounded(self, array: Array) -> Array:
        """The numbers in float32 as they come back from the flash."""
        return array if self is ActivationFormat.FP32 else self.load(self.store(array), _FLOAT32)


_FLOAT32 = ArraySpec((1,), FLOAT32)
