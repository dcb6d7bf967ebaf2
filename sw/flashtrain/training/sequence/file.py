"""Training command sequences as JSON files.

A file is one JSON object (UTF-8)::

    {
      "format": "flashtrain-sequence",
      "version": 1,
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

``stream`` is inputs, activations, weights or trained; ``dtype`` float32 or uint8 (little endian); ``bytes``
is what shape and dtype come to, for readers that do not want to compute it. A step is one of::

    {"step": "append", "tensor": "input/images", "port": "host"}
    {"step": "read", "tensor": "input/images", "port": "core"}
    {"step": "reset", "stream": "activations", "port": "core"}
    {"step": "compute", "operation": "forward", "layer": "hidden", "takes": ["weights/hidden"],
     "gives": ["activation/hidden/x"]}

``port`` is host or core; ``operation`` is a value of `Operation`; ``layer`` is "" for load and loss. All keys
are required, and no others are allowed. `TrainingSequence` says what a sound sequence is.
"""

import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from flashtrain.spec.streams import Port
from flashtrain.training.arrays import ArraySpec
from flashtrain.training.errors import SequenceError, ShapeError
from flashtrain.training.sequence.sequence import PHASES, TrainingSequence
from flashtrain.training.sequence.steps import (
    Append,
    Compute,
    Operation,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
)

FORMAT = "flashtrain-sequence"
VERSION = 1

PORTS = {port.name.lower(): port for port in Port}

EnumT = TypeVar("EnumT", bound=Enum)
ItemT = TypeVar("ItemT")


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
        return _sequence(_Node("", document))
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
        "stream": tensor.stream.value,
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


class _Node:
    """A value of the document and its path; each access checks what it expects."""

    def __init__(self, path: str, value: Any) -> None:
        self.path = path
        self.value = value

    def fail(self, expected: str) -> SequenceError:
        shown = json.dumps(self.value)
        got = shown if len(shown) <= 40 else f"{shown[:37]}..."
        return SequenceError(f"{self.path or 'document'}: expected {expected}, got {got}")

    def keys(self, *names: str) -> "list[_Node]":
        """The members of an object that has exactly these keys."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        for name in names:
            if name not in self.value:
                raise SequenceError(f"{self._member(name)}: missing")
        for name in self.value:
            if name not in names:
                raise SequenceError(f"{self._member(name)}: unknown; expected only {', '.join(names)}")
        return [_Node(self._member(name), self.value[name]) for name in names]

    def member(self, name: str) -> "_Node":
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        if name not in self.value:
            raise SequenceError(f"{self._member(name)}: missing")
        return _Node(self._member(name), self.value[name])

    def _member(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def items(self, parse: "Callable[[_Node], ItemT]") -> tuple[ItemT, ...]:
        if not isinstance(self.value, list):
            raise self.fail("a list")
        return tuple(parse(_Node(f"{self.path}[{i}]", item)) for i, item in enumerate(self.value))

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.fail("a string")
        return self.value

    def name(self) -> str:
        if not self.text():
            raise self.fail("a name")
        return self.value

    def positive(self) -> int:
        if type(self.value) is not int or self.value < 1:
            raise self.fail("an integer of at least 1")
        return self.value

    def exactly(self, expected: str | int) -> None:
        if type(self.value) is not type(expected) or self.value != expected:
            raise self.fail(json.dumps(expected))

    def choice(self, choices: dict[str, ItemT]) -> ItemT:
        if not isinstance(self.value, str) or self.value not in choices:
            raise self.fail(f"one of {', '.join(choices)}")
        return choices[self.value]

    def member_of(self, kind: type[EnumT]) -> EnumT:
        return self.choice({member.value: member for member in kind})


def _sequence(document: _Node) -> TrainingSequence:
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


def _tensor(node: _Node) -> TensorInfo:
    name, stream, shape, dtype, size = node.keys("name", "stream", "shape", "dtype", "bytes")
    try:
        spec = ArraySpec(shape.items(_Node.positive), dtype.text())
    except ShapeError as error:
        raise SequenceError(f"{node.path}: {error}") from error
    size.exactly(spec.bytes)
    return TensorInfo(name.name(), stream.member_of(StreamRole), spec)


def _step(node: _Node) -> Step:
    kinds = {"append": _append, "read": _read, "reset": _reset, "compute": _compute}
    return node.member("step").choice(kinds)(node)


def _append(node: _Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Append(tensor.name(), port.choice(PORTS))


def _read(node: _Node) -> Step:
    _, tensor, port = node.keys("step", "tensor", "port")
    return Read(tensor.name(), port.choice(PORTS))


def _reset(node: _Node) -> Step:
    _, stream, port = node.keys("step", "stream", "port")
    return Reset(stream.member_of(StreamRole), port.choice(PORTS))


def _compute(node: _Node) -> Step:
    _, operation, layer, takes, gives = node.keys("step", "operation", "layer", "takes", "gives")
    return Compute(
        operation.member_of(Operation), layer.text(), takes.items(_Node.name), gives.items(_Node.name)
    )
