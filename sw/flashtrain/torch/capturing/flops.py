"""Formulas of the floating-point operations of ATen's operators: matrix products, convolutions, transforms.

A multiplication with its addition is two. All other operators count none; a recording lists them.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import cache
from math import log2, prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

_ATEN = torch.ops.aten


def flops_of(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> int | None:
    """The FLOPs of a call of the dispatcher; None for an operator without a formula."""
    formula = _formula(func.overloadpacket)
    return None if formula is None else int(formula(*args, **kwargs, out_val=result))


def _matrix(left: Any, right: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(left.shape) * right.shape[-1]


def _added_matrix(added: Any, left: Any, right: Any, *_: Any, **__: Any) -> int:
    return _matrix(left, right)


def _matrices(left: Sequence[Any], right: Sequence[Any], *_: Any, **__: Any) -> int:
    return sum(map(_matrix, left, right))


def _grouped(left: Any, right: Any, *_: Any, **__: Any) -> int:
    """Products of groups of rows, columns or inner indices; all groups together are one product.

    Only if both operands have a dimension of groups is it one product for each.
    """
    groups = left.shape[0] if left.dim() == right.dim() == 3 else 1
    return 2 * groups * left.shape[-2] * left.shape[-1] * right.shape[-1]


def _vector(matrix: Any, *_: Any, **__: Any) -> int:
    """The product of a matrix or a vector and a vector."""
    return 2 * prod(matrix.shape)


def _added_vector(added: Any, matrix: Any, *_: Any, **__: Any) -> int:
    return _vector(matrix)


def _added_outer(added: Any, left: Any, right: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(left.shape) * prod(right.shape)


def _trilinear(
    first: Any, second: Any, third: Any, expand1: Any, expand2: Any, expand3: Any, summed: Any, *_: Any,
    **__: Any,
) -> int:  # fmt: skip
    """Two products, as ATen takes them: of the first two operands, and of their result and the third.

    Each `expand` has the dimensions that an operand lacks. The first product sums over what the third lacks.
    """
    given = (first, expand1), (second, expand2), (third, expand3)
    sizes = [_expanded(operand.shape, set(lacking)) for operand, lacking in given]
    pair = [max(each) for each in zip(*sizes[:2], strict=True)]
    left = [size for d, size in enumerate(pair) if d not in summed or d not in expand3]
    rest = [size for d, size in enumerate(sizes[2]) if d not in summed or d not in expand3]
    return 2 * prod(pair) + 2 * prod(map(max, left, rest))


def _expanded(shape: Sequence[int], lacking: set[int]) -> list[int]:
    own = iter(shape)
    return [1 if d in lacking else next(own) for d in range(len(shape) + len(lacking))]


def _convolution_backward(
    gradient: Any, input: Any, weight: Any, biases: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, wanted: Sequence[bool], *_: Any, **__: Any,
) -> int:  # fmt: skip
    """As many as the forward pass for each of the gradients of input and weight.

    PyTorch's formula for the weight's leaves out that a group of channels meets its own filters alone.
    """
    points = input.shape if transposed else gradient.shape
    return 2 * points[0] * prod(points[2:]) * prod(weight.shape) * sum(wanted[:2])


def _convolution_tbc(input: Any, weight: Any, *_: Any, out_val: Any, **__: Any) -> int:
    return 2 * prod(out_val.shape[:2]) * prod(weight.shape)


def _distances(left: Any, right: Any, *_: Any, **__: Any) -> int:
    """Euclidean distances by a product of matrices, whose rows have two elements more for the norms."""
    return 2 * prod(left.shape[:-1]) * right.shape[-2] * (left.shape[-1] + 2)


def _complex_transform(input: Any, dimensions: Sequence[int], *_: Any, **__: Any) -> int:
    return _transform(input.shape, dimensions, 5.0)


def _real_transform(input: Any, dimensions: Sequence[int], *_: Any, **__: Any) -> int:
    return _transform(input.shape, dimensions, 2.5)


def _inverse_real_transform(input: Any, dimensions: Sequence[int], *_: Any, out_val: Any, **__: Any) -> int:
    return _transform(out_val.shape, dimensions, 2.5)


def _transform(shape: Sequence[int], dimensions: Sequence[int], each: float) -> int:
    """Fast Fourier transforms: 5 n log2 n of n complex numbers, half of n real ones (FFTW's benchFFT)."""
    size = prod(shape[d] for d in dimensions)
    return prod(shape) // size * round(each * size * log2(size))


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return sdpa_flop_count(query.shape, key.shape, value.shape)


def _attention_backward(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return sdpa_backward_flop_count(gradient.shape, query.shape, key.shape, value.shape)


def _lstm(input: Any, *weights: Any, **_: Any) -> int:
    """A layer of LSTM cells on the CPU: all gates of all steps, from the input and from the state."""
    return 2 * prod(input.shape[:2]) * sum(weight.numel() for weight in weights[:2])


def _lstm_backward(input: Any, *weights: Any, **_: Any) -> int:
    return 2 * _lstm(input, *weights)


def _recurrent(input: Any, weights: Sequence[Any], *_: Any, **__: Any) -> int:
    """Layers of recurrent cells in cuDNN and MIOpen: the matrices among the weights, at all steps."""
    return 2 * prod(input.shape[:-1]) * sum(prod(each.shape) for each in weights if each.dim() > 1)


def _recurrent_backward(input: Any, weights: Sequence[Any], *_: Any, **__: Any) -> int:
    return 2 * _recurrent(input, weights)


_OWN: dict[str, Callable[..., int]] = {
    "_addmm_activation": _added_matrix,
    "_cudnn_rnn": _recurrent,
    "_cudnn_rnn_backward": _recurrent_backward,
    "_euclidean_dist": _distances,
    "_fft_c2c": _complex_transform,
    "_fft_c2r": _inverse_real_transform,
    "_fft_r2c": _real_transform,
    "_foreach_mm": _matrices,
    "_grouped_mm": _grouped,
    "_int_mm": _matrix,
    "_scaled_dot_product_attention_math_for_mps": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward,
    "_scaled_grouped_mm": _grouped,
    "_scaled_grouped_mm_v2": _grouped,
    "_scaled_mm_v2": _matrix,
    "_trilinear": _trilinear,
    "addbmm": _added_matrix,
    "addmv": _added_vector,
    "addr": _added_outer,
    "conv_tbc": _convolution_tbc,
    "convolution_backward": _convolution_backward,
    "convolution_backward_overrideable": _convolution_backward,
    "dot": _vector,
    "miopen_rnn": _recurrent,
    "miopen_rnn_backward": _recurrent_backward,
    "mkldnn_rnn_layer": _lstm,
    "mkldnn_rnn_layer_backward": _lstm_backward,
    "mv": _vector,
    "vdot": _vector,
}
"""Formulas that PyTorch lacks, or has for less, by the name of the operator."""

_FORMULAS: MutableMapping[Any, Callable[..., int]] = ChainMap(
    {getattr(_ATEN, name): formula for name, formula in _OWN.items() if hasattr(_ATEN, name)}, flop_registry
)
"""By operator; PyTorch's registry also has what users register for their own (`register_flop_formula`)."""


def _formula(packet: Any) -> Callable[..., int] | None:
    return _FORMULAS.get(packet) or _FORMULAS.get(_out_of_place(packet))


@cache
def _out_of_place(packet: Any) -> Any:
    """The operator that computes the same into a new tensor, such as `addmm` for `addmm_`."""
    library, _, name = packet._qualified_op_name.partition("::")
    in_place = library == "aten" and name.endswith("_")
    return getattr(_ATEN, name.removesuffix("_"), None) if in_place else None
