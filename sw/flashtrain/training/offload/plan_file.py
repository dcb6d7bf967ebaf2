"""Plans of offloading as JSON files.

A file is one JSON object (UTF-8)::

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

from dataclasses import asdict
from pathlib import Path
from typing import Any

from flashtrain.reading import Node, read_document
from flashtrain.training.json_file import write_json
from flashtrain.training.offload.plan import Plan, PlannedTensor
from flashtrain.training.offload.storage import parse_storage, storage_document

FORMAT = "flashtrain-offload-plan"
VERSION = 1


def save_plan(plan: Plan, path: Path) -> None:
    """Write `plan`; equal plans give equal bytes. Raises `OutputError` if that fails."""
    write_json(path, plan_document(plan))


def load_plan(path: Path) -> Plan:
    """Read a plan. Raises `InputError` that names the file, the key and what was expected."""
    return read_document(path, _plan)


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
