"""A workload: the bytes and the FLOPs of each layer of a network, per iteration."""

from dataclasses import dataclass, replace

from flashtrain.platform.errors import PlatformError


@dataclass(frozen=True)
class Workload:
    """A network of equal layers, and one iteration of its training.

    - `layers`: the layers, all equal.
    - `micro_batches`: the parts of the batch, which a layer computes one after the other.
    - `parameters`: the parameters of a layer.
    - `activation_bytes`: bytes that a layer saves for its backward pass, over all micro-batches.
    - `flops`: floating-point operations of a layer in an iteration, a third of them in the forward pass.
    - `phi`: the share of the activations that reaches the flash; the rest is computed again, or kept.
    - `number_bytes`: bytes of a weight and of a gradient.
    """

    name: str
    layers: int
    micro_batches: int
    parameters: int
    activation_bytes: int
    flops: int
    phi: float
    number_bytes: int = 2

    def __post_init__(self) -> None:
        for name in ("layers", "micro_batches", "parameters", "activation_bytes", "flops", "number_bytes"):
            if getattr(self, name) < 1:
                raise PlatformError(
                    f"workload {self.name}: {name} is {getattr(self, name)}; expected at least 1"
                )
        if not 0 < self.phi <= 1:
            raise PlatformError(f"workload {self.name}: phi is {self.phi}; expected more than 0, at most 1")

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights of a layer; its gradient has as many."""
        return self.parameters * self.number_bytes

    @property
    def total_weight_bytes(self) -> int:
        return self.layers * self.weight_bytes

    @property
    def total_activation_bytes(self) -> int:
        """Of all layers, whether they reach the flash or not."""
        return self.layers * self.activation_bytes

    @property
    def total_flops(self) -> int:
        return self.layers * self.flops

    @property
    def stored_activation_bytes(self) -> int:
        """Bytes of activations of a layer and a micro-batch that reach the flash."""
        return max(1, round(self.phi * self.activation_bytes / self.micro_batches))

    def with_phi(self, phi: float) -> "Workload":
        return replace(self, phi=phi)

    def shrunk(self, divisor: int) -> "Workload":
        """The same loops with all tensors and the FLOPs divided by `divisor`, for small devices."""
        if divisor < 1:
            raise PlatformError(f"workload {self.name}: the divisor is {divisor}; expected at least 1")
        return replace(
            self,
            parameters=max(1, self.parameters // divisor),
            activation_bytes=max(1, self.activation_bytes // divisor),
            flops=max(1, self.flops // divisor),
        )
