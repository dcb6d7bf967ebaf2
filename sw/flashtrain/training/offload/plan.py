"""The plan of offloading: which tensors of a model go to the storage, and when they come back.

A plan file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-offload-plan",
      "version": 1,
      "model": "gpt2",
      "fingerprint": "0123456789abcdef",    `Profile.fingerprint` of what it was made for
      "schedule": "ours",                   the schedule that made it: ours or flashneuron
      "barrier": false,                     the backward pass waits for all writes
      "seconds": 0.125,                     predicted for an iteration
      "peak_bytes": 900000,                 predicted, resident bytes included
      "storage": {...},                     the keys of `Storage`
      "tensors": [                          the offloaded ones, in the order of `write_order`
        {"name": "saved/0", "bytes": 1048576, "codec": "window32", "ratio": 1.16, "write_order": 0,
         "first_use": 7, "prefetch_before": 5, "prefetch_with": "saved/4"},
        ...
      ]
    }

``codec`` is raw or a codec of the storage, ``ratio`` what the plan expects of it. ``prefetch_before`` is the
index of the operation at whose begin the read is issued; ``first_use`` that of the one that needs the
tensor. ``prefetch_with`` is for a client that sees tensors and no operations. The first need of that tensor
issues the read; with null, the begin of the backward pass does. All keys are required, and no others are
allowed.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from flashtrain.training.errors import OffloadError
from flashtrain.training.json_file import read_json, write_json
from flashtrain.training.json_node import Node
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import Storage, parse_storage, storage_document

FORMAT = "flashtrain-offload-plan"
VERSION = 1


@dataclass(frozen=True)
class PlannedTensor:
    """An offloaded tensor.

    - `write_order`: of two tensors that can be written, the lower number is written first.
    - `prefetch_before`: index of the operation at whose begin the read is issued, at most `first_use`.
    - `prefetch_with`: the tensor whose first need issues the read; None: the begin of the backward pass.
    """

    name: str
    bytes: int
    codec: str
    ratio: float
    write_order: int
    first_use: int
    prefetch_before: int
    prefetch_with: str | None

    def __post_init__(self) -> None:
        if not (isfinite(self.ratio) and self.ratio > 0):
            raise OffloadError(f"tensor {self.name}: ratio {self.ratio}; expected more than 0")
        if not 0 <= self.prefetch_before <= self.first_use:
            raise OffloadError(
                f"tensor {self.name}: prefetch before operation {self.prefetch_before}; expected 0 to"
                f" {self.first_use}, which needs it"
            )


@dataclass(frozen=True)
class Plan:
    """The offloaded `tensors` of `model` in the order of their writes, and what was predicted.

    - `fingerprint`: of the profile that it was made for (`Profile.fingerprint`).
    - `barrier`: whether the backward pass waits for all writes.
    - `seconds`, `peak_bytes`: predicted for an iteration, `peak_bytes` with the resident bytes.

    Raises `OffloadError` if a name or a number of `write_order` comes twice.
    """

    model: str
    fingerprint: str
    schedule: str
    barrier: bool
    storage: Storage
    tensors: tuple[PlannedTensor, ...]
    seconds: float
    peak_bytes: int

    def __post_init__(self) -> None:
        if len(self.by_name) != len(self.tensors):
            names = [tensor.name for tensor in self.tensors]
            raise OffloadError(
                f"tensors: the name {next(n for n in names if names.count(n) > 1)} is not unique"
            )
        orders = [tensor.write_order for tensor in self.tensors]
        if orders != sorted(set(orders)):
            raise OffloadError(f"tensors: write_order is {orders}; expected ascending numbers")

    @cached_property
    def by_name(self) -> dict[str, PlannedTensor]:
        return {tensor.name: tensor for tensor in self.tensors}

    @property
    def offloaded_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def stored_bytes(self) -> float:
        return sum(tensor.bytes / tensor.ratio for tensor in self.tensors)

    def check(self, profile: Profile) -> None:
        """Raise `OffloadError` if the plan was made for another model than that of `profile`."""
        if self.fingerprint != profile.fingerprint:
            raise OffloadError(
                f"the plan is for model {self.model} with fingerprint {self.fingerprint}; expected"
                f" {profile.model} with {profile.fingerprint}"
            )


def save_plan(plan: Plan, path: Path) -> None:
    """Write `plan`; equal plans give equal bytes. Raises `OffloadError` if that fails."""
    write_json(path, plan_document(plan), OffloadError)


def load_plan(path: Path) -> Plan:
    """Read a plan. Raises `OffloadError` that names the file, the key and what was expected."""
    return read_json(path, _plan, OffloadError)


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": plan.model,
        "fingerprint": plan.fingerprint,
        "schedule": plan.schedule,
        "barrier": plan.barrier,
        "seconds": plan.seconds,
        "peak_bytes": plan.peak_bytes,
        "storage": storage_document(plan.storage),
        "tensors": [asdict(tensor) for tensor in plan.tensors],
    }


def _plan(document: Node) -> Plan:
    document.member("format").exactly(FORMAT)
    document.member("version").exactly(VERSION)
    _, _, model, fingerprint, schedule, barrier, seconds, peak, storage, tensors = document.keys(
        "format", "version", "model", "fingerprint", "schedule", "barrier", "seconds", "peak_bytes",
        "storage", "tensors",
    )  # fmt: skip
    return Plan(
        model.name(),
        fingerprint.name(),
        schedule.name(),
        barrier.switch(),
        parse_storage(storage),
        tensors.items(_tensor),
        seconds.number(),
        peak.count(),
    )


def _tensor(node: Node) -> PlannedTensor:
    name, size, codec, ratio, order, use, prefetch, beside = node.keys(
        "name", "bytes", "codec", "ratio", "write_order", "first_use", "prefetch_before", "prefetch_with"
    )
    return PlannedTensor(
        name.name(),
        size.positive(),
        codec.name(),
        ratio.positive_number(),
        order.count(),
        use.count(),
        prefetch.count(),
        None if beside.value is None else beside.name(),
    )
