"""Training command sequences as JSON files.

A file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-sequence",
      "version": 4,
      "network": "mlp",           name of the network that the sequence was made for
      "optimizer": "adam",        name of the optimizer
      "batch": 128,               examples per iteration, at least 1
      "indices": [{"name": "layer", "count": 96}],        of loops; may be left out
      "tensors": [                every tensor, with a unique name
        {"name": "input/images", "stream": "inputs", "shape": [128, 8, 8], "dtype": "float32",
         "bytes": 32768},
        ...
      ],
      "prologue": [...],          steps, carried out once
      "iteration": [...],         steps, carried out once per iteration
      "epilogue": [...]           steps, carried out once
    }

``stream`` is inputs, activations, weights, state or trained, or null for a tensor that is never stored;
``dtype`` float32, float16, bfloat16, uint8, uint16 or int32 (little endian); ``bytes`` is what shape and
dtype come to, for readers that do not want to compute it. A step is one of::

    {"step": "append", "tensor": "input/images", "port": "host"}
    {"step": "read", "tensor": "input/images", "port": "core"}
    {"step": "reset", "stream": "activations", "port": "core"}
    {"step": "compute", "operation": "forward", "layer": "hidden", "takes": ["weights/hidden"],
     "gives": ["activation/hidden/x"], "flops": 131072, "seconds": 1e-6}
    {"step": "initialise", "tensors": ["weights/hidden"], "program": "adam", "port": "core"}
    {"step": "update", "tensors": ["weights/hidden"], "gradients": ["gradient/hidden"],
     "constants": "constants", "port": "core"}
    {"step": "repeat", "over": "layer", "order": "up", "steps": [...]}

``port`` is host or core; ``operation`` is a value of `Operation`; ``layer`` is "" for load, loss and
constants; ``program`` is a name of `flashtrain.spec.optimizer.OptimizerCode`, in lower case. ``flops`` and
``seconds`` are the work of a compute step, more than 0; without them there is none. A ``repeat`` carries out
its steps for each value of an index, from 0 ``up``, or ``down`` to 0. In names, ``{layer}`` stands for the
value. All other keys are required, and no others are allowed. `TrainingSequence` says what a sound sequence
is.

Versions 2 and 3 are read, too. In version 3 each update is of all of the state stream; version 2 has no loops
and no times, either. Version 1 is refused: `flashtrain sequence generate` makes the file anew.
"""

from pathlib import Path
from typing import Any

from flashtrain.reading import Node, read_document
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError, ShapeError
from flashtrain.training.json_file import write_json
from flashtrain.training.sequence.sequence import PHASES, TrainingSequence
from flashtrain.training.sequence.step_file import parse_step, step_document
from flashtrain.training.sequence.steps import Index, StreamRole, TensorInfo

FORMAT = "flashtrain-sequence"
VERSION = 4
READABLE = (2, 3, VERSION)
"""Version 3 has updates of all of the state stream only; version 2 has no loops and no times, either."""


def save_sequence(sequence: TrainingSequence, path: Path) -> None:
    """Write `sequence` to `path`; equal sequences give equal bytes. Raises `OutputError` if that fails."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "network": sequence.network,
        "optimizer": sequence.optimizer,
        "batch": sequence.batch,
        "indices": [{"name": index.name, "count": index.count} for index in sequence.indices],
        "tensors": [_tensor_document(tensor) for tensor in sequence.tensors],
    }
    for phase in PHASES:
        document[phase] = [step_document(step) for step in getattr(sequence, phase)]
    write_json(path, document)


def load_sequence(path: Path) -> TrainingSequence:
    """Read a sequence. Raises `InputError` that names the file, the field and what was expected."""
    return read_document(path, _sequence)


def _tensor_document(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "stream": None if tensor.stream is None else tensor.stream.value,
        "shape": list(tensor.spec.shape),
        "dtype": tensor.spec.dtype,
        "bytes": tensor.spec.bytes,
    }


def _sequence(document: Node) -> TrainingSequence:
    document.member("format").exactly(FORMAT)
    document.member("version").one_of(READABLE)
    _, _, network, optimizer, batch, tensors, *phases = document.keys(
        "format", "version", "network", "optimizer", "batch", "tensors", *PHASES, optional=("indices",)
    )
    indices = document.optional("indices")
    prologue, iteration, epilogue = (phase.items(parse_step) for phase in phases)
    return TrainingSequence(
        network.name(),
        optimizer.name(),
        batch.positive(),
        tensors.items(_tensor),
        prologue,
        iteration,
        epilogue,
        indices.items(_index) if indices else (),
    )


def _index(node: Node) -> Index:
    name, count = node.keys("name", "count")
    return Index(name.name(), count.positive())


def _tensor(node: Node) -> TensorInfo:
    name, stream, shape, dtype, size = node.keys("name", "stream", "shape", "dtype", "bytes")
    try:
        spec = ArraySpec(shape.items(Node.positive), dtype.text())
    except ShapeError as error:
        raise SequenceError(f"{node.key}: {error}") from error
    size.exactly(spec.bytes)
    role = None if stream.value is None else stream.member_of(StreamRole)
    return TensorInfo(name.name(), role, spec)
