"""Nodes of the training platform, and the platform made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.storage import Kind, Resource, Storage, StorageModel

BEHEMOTH_FLOPS = 840e12
"""FLOP per second of all activation nodes together: the example of Behemoth's slides."""


@dataclass(frozen=True)
class Node:
    """A compute core, a tensor buffer and a storage.

    - `flops_per_second`: of the core.
    - `buffer_bytes`: of the tensor buffer. An assumption: with 16 GB of DDR at $4 and 2 TB of NAND at $0.67 a
      GB, Behemoth's memory cost comes out as published.
    - `buffer_bytes_per_second`: of its DRAM. An assumption: eight channels of DDR4-3200 (JEDEC JESD79-4).
    - `link_bytes_per_second`: to the other nodes, each way. An assumption.
    """

    flops_per_second: float = BEHEMOTH_FLOPS
    buffer_bytes: float = 16e9
    buffer_bytes_per_second: float = 204.8e9
    link_bytes_per_second: float = 100e9
    storage: StorageModel = field(default_factory=FmsModel)

    def __post_init__(self) -> None:
        for name in ("flops_per_second", "buffer_bytes", "buffer_bytes_per_second", "link_bytes_per_second"):
            if not getattr(self, name) > 0:
                raise PlatformError(f"node: {name} is {getattr(self, name)}; expected more than 0")

    def buffer_resource(self) -> Resource:
        """The DRAM of the tensor buffer: each byte goes in and out once."""
        seconds = 2 / self.buffer_bytes_per_second
        return Resource("tensor buffer", dict.fromkeys(Kind, seconds))

    def resources(self) -> Sequence[Resource]:
        """The parts that bound requests to the storage; none if it is ideal."""
        own = self.storage.resources()
        return (*own, self.buffer_resource()) if own else ()

    def new_storage(self) -> Storage:
        return self.storage.new_storage([self.buffer_resource()])


@dataclass(frozen=True)
class Platform:
    """Activation nodes that share a batch (data parallelism), and weight nodes that share the weights.

    All activation nodes do the same at the same time. The network multicasts weights and adds gradients up,
    so each crosses the link of a node once. Both are assumptions.
    """

    activation: Node = Node()
    weight: Node = Node()
    activation_nodes: int = 1
    weight_nodes: int = 1

    def __post_init__(self) -> None:
        for name in ("activation_nodes", "weight_nodes"):
            if getattr(self, name) < 1:
                raise PlatformError(f"platform: {name} is {getattr(self, name)}; expected at least 1")

    @property
    def link_bytes_per_second(self) -> float:
        """Of a tensor of weights or gradients between an activation node and all weight nodes."""
        return min(
            self.activation.link_bytes_per_second, self.weight_nodes * self.weight.link_bytes_per_second
        )

    def with_buffers(self, buffer_bytes: float) -> "Platform":
        """The same with a tensor buffer of this size in every node."""
        return replace(
            self,
            activation=replace(self.activation, buffer_bytes=buffer_bytes),
            weight=replace(self.weight, buffer_bytes=buffer_bytes),
        )


def sharing_platform(
    storage: StorageModel, nodes: int = 1, flops_per_second: float = BEHEMOTH_FLOPS, weight_nodes: int = 1
) -> Platform:
    """`nodes` activation nodes that share a FLOP rate; each node has a storage of its own."""
    if nodes < 1:
        raise PlatformError(f"platform: activation_nodes is {nodes}; expected at least 1")
    return Platform(
        activation=Node(flops_per_second=flops_per_second / nodes, storage=storage),
        weight=Node(flops_per_second=flops_per_second, storage=storage),
        activation_nodes=nodes,
        weight_nodes=weight_nodes,
    )
