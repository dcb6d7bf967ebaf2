"""Shards: the parts of distributed tensors that a rank holds. A plain tensor is its own shard."""

import sys
from typing import Any

import torch
from torch import Tensor

from flashtrain.training.errors import ParameterError


def is_distributed(tensor: object) -> bool:
    """Whether this is a `DTensor`, whose module is not imported for the question."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def shard(tensor: Tensor) -> Tensor:
    """The part of this rank, which shares memory with the tensor."""
    if not is_distributed(tensor):
        return tensor
    own: Any = tensor
    with torch.no_grad():
        part = own.to_local()
    return part.wait() if hasattr(part, "wait") else part  # a collective may be under way


def shard_like(parameter: Tensor, value: Tensor, name: str) -> Tensor:
    """The part of `value` that belongs to the shard of the parameter: its gradient, or its state.

    A value with other placements is redistributed, which all ranks do alike. :class:`ParameterError` unless
    both are distributed over the same mesh, or neither is.
    """
    if is_distributed(parameter) != is_distributed(value):
        expected = "a DTensor, as the parameter" if is_distributed(parameter) else "a plain tensor"
        raise ParameterError(f"{name} is a {type(value).__name__}; expected {expected}")
    if not is_distributed(parameter):
        return value
    own: Any = parameter
    given: Any = value
    if given.device_mesh != own.device_mesh:
        raise ParameterError(f"{name} is on {given.device_mesh}; expected {own.device_mesh}")
    if given.placements != own.placements:
        with torch.no_grad():
            given = given.redistribute(placements=own.placements)
    return shard(given)


def is_placed_like(parameter: Tensor, value: Tensor) -> bool:
    """Whether the shards of both are on the same ranks, so that :func:`shard_like` moves nothing."""
    if not is_distributed(parameter) or not is_distributed(value):
        return True
    own: Any = parameter
    given: Any = value
    return given.placements == own.placements


def as_distributed(parameter: Tensor, part: Tensor) -> Tensor:
    """The distributed tensor like the parameter whose shard on this rank is `part`."""
    if not is_distributed(parameter):
        return part
    own: Any = parameter
    return type(own).from_local(
        part, own.device_mesh, own.placements, run_check=False, shape=own.shape, stride=own.stride()
    )


def check_placement(name: str, parameter: Tensor, rank_count: int | None) -> None:
    """:class:`ParameterError` unless the shards of the parameter are on so many ranks, or on any for None."""
    if not is_distributed(parameter):
        return
    own: Any = parameter
    if any(placement.is_partial() for placement in own.placements):
        raise ParameterError(f"{name} has the placements {own.placements}; expected shards or replicas")
    if rank_count is not None and own.device_mesh.size() != rank_count:
        raise ParameterError(
            f"{name} is on a mesh of {own.device_mesh.size()} ranks; expected all {rank_count} ranks that"
            " step together, or own_parameters=True"
        )


def is_first_replica(parameter: Tensor, rank: int) -> bool:
    """Whether this rank counts the gradients of its shard: of replicas, one rank does.

    A plain tensor has a replica on each rank, as with `DistributedDataParallel`.
    """
    if not is_distributed(parameter):
        return rank == 0
    own: Any = parameter
    coordinate = own.device_mesh.get_coordinate()
    return all(
        place == 0
        for place, placement in zip(coordinate, own.placements, strict=True)
        if placement.is_replicate()
    )
