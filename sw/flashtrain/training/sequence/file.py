"""Training command sequences as JSON files.

A file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-sequence",
      "version": 2,
      "network": "mlp",           name of the network that the sequence was made for
      "optimizer": "adam",        name of the optimizer
      "batch": 128,               examples per iteration, at least 1
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
``dtype`` float32 or uint8 (little endian); ``bytes`` is what shape and dtype come to, for readers that do not
want to compute it. A step is one of::

    {"step": "append", "tensor": "input/images", "port": "host"}
    {"step": "read", "tensor": "input/images", "port": "core"}
    {"step": "reset", "stream": "activations", "port": "core"}
    {"step": "compute", "operation": "forward", "layer": "hidden", "takes": ["weights/hidden"],
     "gives": ["activation/hidden/x"]}
    {"step": "initialise", "tensors": ["weights/hidden"], "program": "adam", "port": "core"}
    {"step": "update", "tensors": ["weights/hidden"], "gradients": ["gradient/hidden"],
     "constants": "constants", "port": "core"}

``port`` is host or core; ``operation`` is a value of `Operation`; ``layer`` is "" for load, loss and
constants; ``program`` is a name of `flashtrain.spec.optimizer.OptimizerCode`, in lower case. All keys are
required, and no others are allowed. `TrainingSequence` says what a sound sequence is.

Version 1 had no gradients, and no state stream with its initialise and update. It is refused: `flashtrain
sequence generate` makes the file anew.
"""

import json
from pathlib import Path
from typing import Any

from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.streams import Port
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError, ShapeError
from flashtrain.training.sequence.node import Node
from flashtrain.training.sequence.sequence import PHASES, TrainingSequence
from flashtrain.training.sequence.steps import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
)

FORMAT = "flashtrain-sequence"
VERSION = 2

PORTS = {port.name.lower(): port for port in Port}
PROGRAMS = {code.name.lower(): code for code in OptimizerCode}


def save_sequence(sequence: TrainingSequence, path: Path) -> None:
    """Write `sequence` to `path`; equal sequences give equal bytes. Raises `SequenceError` if that fails."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "network": sequence.network,
        "optimizer": sequence.optimizer,
        "batch": sequence.batch,
        "tensors": [_tensor_document(tensor) for tensor in sequence.tensors],
    }
    for phase in PHASES:
        document[phase] = [_step_document(step) for step in getattr(sequence, phase)]
    try:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise SequenceError(f"{path}: cannot be written: {error.strerror}") from error


def load_sequence(path: Path) -> TrainingSequence:
    """Read a sequence. Raises `SequenceError` that names the file, the field and what was expected."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SequenceError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SequenceError(f"{path}: not UTF-8 text: byte {error.start}") from error
    try:
        document = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise SequenceError(f"{path}: not JSON: {error}") from error
    try:
        return _sequence(Node("", document))
    except SequenceError as error:
        raise SequenceError(f"{path}: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no key may come twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return members


def _tensor_document(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "stream": None if tensor.stream is None else tensor.stream.value,
        "shape": list(tensor.spec.shape),
        "dtype": tensor.spec.dtype,
        "bytes": tensor.spec.bytes,
    }


def _step_document(step: Step) -> dict[str, Any]:
    match step:
        case Append():
            return {"step": "append", "tensor": step.tensor, "port": step.port.name.lower()}
        case Read():
            return {"step": "read", "tensor": step.tensor, "port": step.port.name.lower()}
        case Reset():
            return {"step": "reset", "stream": step.stream.value, "port": step.port.name.lower()}
        case Compute():
            return {
                "step": "compute",
                "operation": step.operation.value,
                "layer": step.layer,
                "takes": list(step.takes),
                "gives": list(step.gives),
            }
        case Initialise():
            return {
                "step": "initialise",
                "tensors": list(step.tensors),
                "program": step.program.name.lower(),
                "port": step.port.name.lower(),
            }
        case Update():
            return {
                "step": "update",
                "tensors": list(step.tensors),
                "gradients": list(step.gradients),
                "constants": step.constants,
                "port": step.port.name.lower(),
            }


def _sequence(document: Node) -> TrainingSequence:
    document.member("format").exactly(FORMAT)
    document.member("version").exactly(VERSION)
    _, _, network, optimizer, batch, tensors, *phases = document.keys(
        "format", "version", "network", "optimizer", "batch", "tensors", *PHASES
    )
    prologue, iteration, epilogue = (phase.items(_step) for phase in phases)
    return TrainingSequence(
        network.name(),
        optimizer.name(),
        batch.positive(),
        tensors.items(_tensor),
        prologue,
        iteration,
        epilogue,
    )


def _tensor(node: Node) -> TensorInfo:
    name, stream, shape, dtype, size = node.keys("name", "stream", "shape", "dtype", "bytes")
    try:
        spec = ArraySpec(shape.items(Node.positive), dtype.text())
    except ShapeError as error:
        raise SequenceError(f"{node.path}: {error}") from error
    size.exactly(spec.bytes)
    role = None if stream.value is None else stream.member_of(StreamRole)
    return TensorInfo(name.name(), role, spec)


def _step(node: Node) -> Step:
    kinds = {
        "append": _append, "read": _read, "reset": _reset, "compute": _compute,
        "initialise": _initialise, "update": _update,
    }  # fmt: skip
    return node.member("step").choice(kinds)(node)


def _append(node: Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Append(tensor.name(), port.choice(PORTS))


def _read(node: Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Read(tensor.name(), port.choice(PORTS))


def _reset(node: Node) -> Step:
    _, stream, port = node.keys("step", "stream", "port")
    return Reset(stream.member_of(StreamRole), port.choice(PORTS))


def _compute(node: Node) -> Step:
    _, operation, layer, takes, gives = node.keys("step", "operation", "layer", "takes", "gives")
    return Compute(
        operation.member_of(Operation), layer.text(), takes.items(Node.name), gives.items(Node.name)
    )


def _initialise(node: Node) -> Step:
    _, tensors, program, port = node.keys("step", "tensors", "program", "port")
    return Initialise(tensors.items(Node.name), program.choice(PROGRAMS), port.choice(PORTS))


def _update(node: Node) -> Step:
    _, tensors, gradients, constants, port = node.keys("step", "tensors", "gradients", "constants", "port")
    return Update(tensors.items(Node.name), gradients.items(Node.name), constants.name(), port.choice(PORTS))
