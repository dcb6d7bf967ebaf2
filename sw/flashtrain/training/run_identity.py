"""The arguments of a run that distinguish it from others."""

import struct
from dataclasses import dataclass
from zlib import crc32

from flashtrain.training.errors import PositionError
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import Optimizer

_FIELDS = struct.Struct("<QIII")


@dataclass(frozen=True)
class RunIdentity:
    """Batches, first weights and steps follow from these; with others a run does not go on to the same bits.

    network, optimizer: CRC-32 of name, layers and shapes, and of the hyperparameters.
    """

    seed: int = 0
    batch: int = 0
    network: int = 0
    optimizer: int = 0

    BYTES = _FIELDS.size

    @classmethod
    def of(cls, network: Network, optimizer: Optimizer, batch: int, seed: int) -> "RunIdentity":
        shapes = [(name, sorted(layer.parameter_shapes().items())) for name, layer in network.layers]
        facts = network.name, network.activations.name, shapes
        return cls(seed % (1 << 64), batch, crc32(repr(facts).encode()), crc32(repr(optimizer).encode()))

    def require(self, found: "RunIdentity") -> None:
        """:class:`PositionError` if `found` is another run."""
        for name in ("seed", "batch"):
            has, wanted = getattr(found, name), getattr(self, name)
            if has != wanted:
                raise PositionError(f"the state is that of a run with {name} {has}; expected {name} {wanted}")
        for name in ("network", "optimizer"):
            if getattr(found, name) != getattr(self, name):
                raise PositionError(f"the state is that of a run with another {name}; expected the same")

    def pack(self) -> bytes:
        return _FIELDS.pack(self.seed, self.batch, self.network, self.optimizer)

    @classmethod
    def unpack(cls, data: bytes) -> "RunIdentity":
        return cls(*_FIELDS.unpack(data))
