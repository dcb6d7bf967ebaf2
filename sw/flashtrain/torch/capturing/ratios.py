"""Ratios of the window code, measured on tensors that autograd saves."""

import numpy as np
import torch

from flashtrain.numerics.codec import encode
from flashtrain.spec.streams import Codec
from flashtrain.torch.accelerators import bytes_of
from flashtrain.torch.tensor_kinds import materialized

PAGE_BYTES = 4096
MOST_BYTES = 1 << 20
"""Of a tensor that are measured, from its beginning: a page depends on the ones before alone."""

_CODECS = {torch.bfloat16: (Codec.WINDOW16,), torch.float32: (Codec.WINDOW32, Codec.ROUND16)}


def measured_ratios(tensor: torch.Tensor) -> dict[str, float]:
    """Bytes per byte stored by the name of the codec, in lower case; none for an element without a codec.

    The tensor's own elements are measured, as they follow each other in the storage of a contiguous tensor.
    """
    codecs = _CODECS.get(tensor.dtype, ())
    if not codecs:
        return {}
    size = tensor.element_size()
    flat = materialized(tensor.detach().reshape(-1)[: MOST_BYTES // size])
    data = bytes_of(flat).numpy()
    padded = np.zeros(-(-len(data) // PAGE_BYTES) * PAGE_BYTES, np.uint8)
    padded[: len(data)] = data
    return {
        codec.name.lower(): len(data) / (len(encode(padded.tobytes(), codec, PAGE_BYTES)) * PAGE_BYTES)
        for codec in codecs
    }
