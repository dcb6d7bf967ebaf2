"""Shards: the parts of distributed tensors that a rank holds. A plain tensor is its own shard."""

import sys
from typing import Any, NamedTuple

import torch
from torch import Tensor

from flashtrain.training.errors import ParameterError


def is_distributed(tensor: object) -> bool:
    """Whether this is a `DTensor`, whose module is not imported for the question."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def shard(tensor: Tensor) -> Tensor:
    """The part of this rank, which shares memory with the tensor. A collective that makes it has ended."""
    part: Any = tensor
    if is_distributed(tensor):
        with torch.no_grad():
            part = part.to_local()
    return part.wait() if hasattr(part, "wait") else part


class Distribution(NamedTuple):
    """All that a distributed tensor is beside its shards: `mesh`, `placements`, and the whole's shape."""

    kind: Any
    mesh: Any
    placements: Any
    shape: torch.Size
    stride: tuple[int, ...]

    @classmethod
    def of(cls, tensor: Tensor) -> "Distribution | None":
        """None for a plain tensor."""
        if not is_distributed(tensor):
            return None
        own: Any = tensor
        return cls(type(own), own.device_mesh, own.placements, own.shape, own.stride())

    def tensor(self, part: Tensor) -> Tensor:
        """The distributed tensor whose shard on this rank is `part`."""
        return self.kind.from_local(
            part, self.mesh, self.placements, run_check=False, shape=self.shape, stride=self.stride
        )


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
    distribution = Distribution.of(parameter)
    return part if distribution is None else distribution.tensor(part)


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
