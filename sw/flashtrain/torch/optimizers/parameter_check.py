"""Parameters and gradients that the dies can take."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.nn.parameter import is_lazy

from flashtrain.spec.optimizer import CopyFormat
from flashtrain.torch.ranks.shards import shard
from flashtrain.torch.tensor_kinds import obstacle
from flashtrain.torch.tensor_names import short_name
from flashtrain.training.errors import ParameterError

from .formats import COPIES, GRADIENTS


def name_of(group: Mapping[str, Any], number: int, index: int) -> str:
    """Name of parameter `index` of group `number` in messages."""
    names = group.get("param_names")
    named = f" ({names[index]!r})" if names else ""
    return f"parameter {index} of group {number}{named}"


def check_parameter(name: str, parameter: Tensor, copy: CopyFormat | None) -> None:
    """:class:`ParameterError` unless the dies can hold the parameter, and new weights come back in `copy`."""
    if is_lazy(parameter):
        raise ParameterError(f"{name} has no shape yet; expected a forward pass of its module before")
    if reason := obstacle(shard(parameter.data)):
        raise ParameterError(f"{name} {reason}; expected a plain, strided tensor")
    if parameter.dtype not in GRADIENTS:
        allowed = ", ".join(short_name(dtype) for dtype in GRADIENTS)
        raise ParameterError(f"{name} is {short_name(parameter.dtype)}; expected one of {allowed}")
    if parameter.is_meta:
        raise ParameterError(f"{name} is on the meta device, without data; expected data")
    own = COPIES[parameter.dtype]
    if copy not in (None, CopyFormat.NONE, own) and own is not CopyFormat.NONE:
        raise ParameterError(
            f"{name} is {short_name(parameter.dtype)}; expected float32 for copy_format {copy.name}"
        )


def check_gradient(name: str, gradient: Tensor) -> None:
    """:class:`ParameterError` unless the gradient can be sent to the dies."""
    if (reason := obstacle(gradient)) and not gradient._is_zerotensor():
        raise ParameterError(f"the gradient of {name} {reason}; expected a plain, strided tensor")
    if gradient.dtype not in GRADIENTS:
        allowed = ", ".join(short_name(dtype) for dtype in GRADIENTS)
        raise ParameterError(
            f"the gradient of {name} is {short_name(gradient.dtype)}; expected one of {allowed}"
        )
