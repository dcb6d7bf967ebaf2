"""The arguments of a run that distinguish it from others."""

import struct
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from flashtrain.training.errors import PositionError
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.step_policy import StepPolicy

_FIELDS = struct.Struct("<QIIII")
_COMPARED = range(4096)
"""Iterations whose learning rates distinguish schedules, also those of users."""
_HASHED = {
    "network": "network",
    "optimizer": "optimizer or order of updates",
    "policy": "schedule, clipping or loss scale",
}


@dataclass(frozen=True)
class RunIdentity:
    """Batches, first weights and steps follow from these; with others a run does not go on to the same bits.

    network, optimizer, policy: CRC-32 of name, layers and shapes, of the hyperparameters, and of the
    schedule's first factors with clipping and loss scale.
    """

    seed: int = 0
    batch: int = 0
    network: int = 0
    optimizer: int = 0
    policy: int = 0

    BYTES = _FIELDS.size

    @classmethod
    def of(
        cls,
        network: Network,
        optimizer: Optimizer,
        batch: int,
        seed: int,
        policy: StepPolicy,
        overlap: bool = False,
    ) -> "RunIdentity":
        shapes = [(name, sorted(layer.parameter_shapes().items())) for name, layer in network.layers]
        facts = network.name, network.activations.name, shapes
        factors = np.array([policy.schedule.factor(iteration) for iteration in _COMPARED], "<f8")
        of_policy = crc32(factors.tobytes(), _crc((policy.max_norm, policy.loss_scale, policy.dynamic)))
        # Updates that overlap have other places on the dies.
        of_optimizer = _crc((optimizer, "overlap") if overlap else optimizer)
        return cls(seed % (1 << 64), batch, _crc(facts), of_optimizer, of_policy)

    def require(self, found: "RunIdentity") -> None:
        """:class:`PositionError` if `found` is another run."""
        for name in ("seed", "batch"):
            has, wanted = getattr(found, name), getattr(self, name)
            if has != wanted:
                raise PositionError(f"the state is that of a run with {name} {has}; expected {name} {wanted}")
        for name, meaning in _HASHED.items():
            if getattr(found, name) != getattr(self, name):
                raise PositionError(f"the state is that of a run with another {meaning}; expected the same")

    def pack(self) -> bytes:
        return _FIELDS.pack(self.seed, self.batch, self.network, self.optimizer, self.policy)

    @classmethod
    def unpack(cls, data: bytes) -> "RunIdentity":
        return cls(*_FIELDS.unpack(data))


def _crc(facts: object) -> int:
    return crc32(repr(facts).encode())
