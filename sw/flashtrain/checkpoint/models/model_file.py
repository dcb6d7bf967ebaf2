"""Captured sizes of models as a JSON file.

The file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-models", "version": 1,
      "source": "torch 2.13.0, torchvision 0.28.0, transformers 5.24.0",
      "models": [
        {"name": "bert-base", "parameters": 110106428, "tensors": 206, "buffer_bytes": 0,
         "flops_per_example": 363736212480, "saved": [4104, 722045968], "workspace": [62525440, 109390848]},
        ...
      ]
    }

A pair ``[a, b]`` is a + b times the batch. All keys are required, and no others are allowed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtrain.reading import Node, read_document
from flashtrain.training.json_file import write_json
from flashtrain.training.offload.network import Linear
from flashtrain.training.offload.network_file import linear

FORMAT = "flashtrain-models"
VERSION = 1

MODELS_FILE = Path(__file__).with_name("models.json")
"""The models that come with the package."""


@dataclass(frozen=True)
class ModelSizes:
    """Captured sizes of a model; the members are those of `TrainingModel`."""

    name: str
    parameters: int
    tensors: int
    buffer_bytes: int
    flops_per_example: int
    saved: Linear
    workspace: Linear


@dataclass(frozen=True)
class CapturedModels:
    """Models, and the packages that define them."""

    source: str
    models: tuple[ModelSizes, ...]


def save_models(captured: CapturedModels, path: Path) -> None:
    """Write the models; equal models give equal bytes. Raises `TrainingModelError` if that fails."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "source": captured.source,
        "models": [_document(sizes) for sizes in captured.models],
    }
    write_json(path, document)


def load_models(path: Path) -> CapturedModels:
    """Read models. Raises `InputError` that names the file, the key and what was expected."""
    return read_document(path, _models)


def _document(sizes: ModelSizes) -> dict[str, Any]:
    return {
        "name": sizes.name,
        "parameters": sizes.parameters,
        "tensors": sizes.tensors,
        "buffer_bytes": sizes.buffer_bytes,
        "flops_per_example": sizes.flops_per_example,
        "saved": [sizes.saved.fixed, sizes.saved.each],
        "workspace": [sizes.workspace.fixed, sizes.workspace.each],
    }


def _models(document: Node) -> CapturedModels:
    document.member("format").exactly(FORMAT)
    document.member("version").exactly(VERSION)
    _, _, source, models = document.keys("format", "version", "source", "models")
    return CapturedModels(source.text(), models.items(_sizes))


def _sizes(node: Node) -> ModelSizes:
    name, parameters, tensors, buffers, flops, saved, workspace = node.keys(
        "name", "parameters", "tensors", "buffer_bytes", "flops_per_example", "saved", "workspace"
    )
    return ModelSizes(
        name.name(), parameters.positive(), tensors.positive(), buffers.count(), flops.positive(),
        linear(saved), linear(workspace),
    )  # fmt: skip
