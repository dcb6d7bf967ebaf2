"""Profiles as JSON files.

A file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-offload-profile",
      "version": 1,
      "model": "gpt2",            name of the model that was profiled
      "batch": 8,                 examples per iteration, at least 1
      "resident_bytes": 4000000,  always in memory: weights, gradients, optimizer state, workspace
      "operations": [             in the order of execution, all forward ones first
        {"name": "h.0.attn", "seconds": 0.0012, "phase": "forward"},
        ...
      ],
      "tensors": [                each saved storage once, in the order of `made`
        {"name": "saved/0", "bytes": 1048576, "made": 0, "released": 1, "uses": [7],
         "element_bytes": 4, "relu": false, "ratios": {"window32": 1.16}},
        ...
      ],
      "uncounted": {"aten.gelu": 0.083, ...}
    }

``phase`` is forward or backward. ``made`` is the index of the forward operation that makes the tensor, and
``released`` that of the last forward operation that needs it. ``uses`` are the indices of the backward
operations that need it, ascending. ``relu``: a ReLU made it. ``ratios``: for each codec that was measured,
the bytes of the tensor per byte stored. ``uncounted``: operators that count no FLOPs for the lack of a
formula, with their part of the bytes that all operators move. ``released`` (default: ``made``),
``element_bytes`` (4), ``relu`` (false), ``ratios`` and ``uncounted`` (none) may be left out. All other keys
are required, and no others are allowed.
"""

from pathlib import Path
from typing import Any

from flashtrain.reading import Node, read_document
from flashtrain.training.json_file import write_json
from flashtrain.training.offload.profile import Phase, Profile, ProfiledOperation, SavedTensor

FORMAT = "flashtrain-offload-profile"
VERSION = 1


def save_profile(profile: Profile, path: Path) -> None:
    """Write `profile`; equal profiles give equal bytes. Raises `OutputError` if that fails."""
    write_json(path, profile_document(profile))


def load_profile(path: Path) -> Profile:
    """Read a profile. Raises `InputError` that names the file, the key and what was expected."""
    return read_document(path, _profile)


def profile_document(profile: Profile) -> dict[str, Any]:
    """The profile as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": profile.model,
        "batch": profile.batch,
        "resident_bytes": profile.resident_bytes,
        "operations": [
            {"name": each.name, "seconds": each.seconds, "phase": each.phase.value}
            for each in profile.operations
        ],
        "tensors": [_tensor_document(tensor) for tensor in profile.tensors],
        **({"uncounted": dict(profile.uncounted)} if profile.uncounted else {}),
    }


def _tensor_document(tensor: SavedTensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "bytes": tensor.bytes,
        "made": tensor.made,
        **({} if tensor.released is None else {"released": tensor.released}),
        "uses": list(tensor.uses),
        "element_bytes": tensor.element_bytes,
        "relu": tensor.relu,
        "ratios": dict(tensor.ratios),
    }


def _profile(document: Node) -> Profile:
    document.member("format").exactly(FORMAT)
    document.member("version").exactly(VERSION)
    _, _, model, batch, resident, operations, tensors = document.keys(
        "format", "version", "model", "batch", "resident_bytes", "operations", "tensors",
        optional=("uncounted",),
    )  # fmt: skip
    uncounted = document.optional("uncounted")
    return Profile(
        model.name(),
        batch.positive(),
        operations.items(_operation),
        tensors.items(_tensor),
        resident.count(),
        uncounted.members(Node.positive_number) if uncounted else {},
    )


def _operation(node: Node) -> ProfiledOperation:
    name, seconds, phase = node.keys("name", "seconds", "phase")
    return ProfiledOperation(name.name(), seconds.number(), phase.member_of(Phase))


def _tensor(node: Node) -> SavedTensor:
    name, size, made, uses = node.keys(
        "name", "bytes", "made", "uses", optional=("released", "element_bytes", "relu", "ratios")
    )
    released, element = node.optional("released"), node.optional("element_bytes")
    relu, ratios = node.optional("relu"), node.optional("ratios")
    return SavedTensor(
        name.name(),
        size.positive(),
        made.count(),
        uses.items(Node.count),
        released.count() if released else None,
        element.positive() if element else 4,
        relu.switch() if relu else False,
        ratios.members(Node.positive_number) if ratios else {},
    )
