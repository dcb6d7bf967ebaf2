"""The layout of a sample in bytes: its tensors and numbers, one behind the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from flashtrain.torch.accelerators import bytes_of
from flashtrain.torch.tensor_kinds import materialized, obstacle
from flashtrain.torch.tensor_names import short_name
from flashtrain.training.errors import DataError

NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64}
"""Python's numbers, and how they are stored; they come back as what they were."""


@dataclass(frozen=True)
class Field:
    """A tensor or a number of a sample.

    Members
    -------
    name: its place in the sample, as in Python.
    start: its first byte.
    number: the type of a Python number; None for a tensor.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    number: type | None

    @cached_property
    def stop(self) -> int:
        return self.start + prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        if self.number is not None:
            return self.number.__name__
        return f"{short_name(self.dtype)}{list(self.shape)}"


@dataclass(frozen=True)
class Parts:
    """A tuple, named tuple, list or dictionary of fields and further parts.

    Members
    -------
    kind: its type.
    keys: of a dictionary; else numbers.
    stop: the byte behind its last one.
    """

    name: str
    kind: type
    keys: tuple[Any, ...]
    members: tuple["Field | Parts", ...]
    stop: int

    def __str__(self) -> str:
        return f"a {self.kind.__name__} of {', '.join(map(repr, self.keys))}"


class SampleLayout:
    """The layout of samples that are like `sample`: tensors, arrays and numbers, in any nest of parts.

    Arrays come back as tensors. :class:`DataError` for anything else, and for samples that are not alike.

    Members
    -------
    nbytes: bytes of a sample.
    """

    def __init__(self, sample: Any) -> None:
        self._root = _described("", sample, 0)
        self.nbytes = self._root.stop
        if not self.nbytes:
            raise DataError(f"a sample is {self._root}, of no bytes; expected some")

    def __str__(self) -> str:
        return _text(self._root)

    def encode(self, number: int, sample: Any, out: np.ndarray) -> None:
        """Write the bytes of a sample to `out`; number: of the sample, for messages."""
        for field, value in _fields(self._root, sample, number):
            dense = materialized(torch.as_tensor(value, dtype=field.dtype))
            out[field.start : field.stop] = bytes_of(dense).numpy()

    def decode(self, record: np.ndarray) -> Any:
        """The sample from its bytes, with memory of its own."""
        return _decoded(self._root, record)


def _text(part: Field | Parts) -> str:
    """A part with all that is in it."""
    if isinstance(part, Field):
        return str(part)
    members = (f"{key!r}: {_text(member)}" for key, member in zip(part.keys, part.members, strict=True))
    return f"{part.kind.__name__}({', '.join(members)})"


def _described(name: str, value: Any, start: int) -> Field | Parts:
    if isinstance(value, Tensor | np.ndarray | np.generic):
        tensor = _tensor(name, value)
        return Field(name, start, tuple(tensor.shape), tensor.dtype, None)
    if type(value) in NUMBERS:
        return Field(name, start, (), NUMBERS[type(value)], type(value))
    if not isinstance(value, tuple | list | Mapping):
        raise DataError(
            f"a sample{name} is a {type(value).__name__}; expected a tensor, an array, a number, "
            "or a tuple, list or dictionary of them"
        )
    keys = tuple(value) if isinstance(value, Mapping) else tuple(range(len(value)))
    members: list[Field | Parts] = []
    for key in keys:
        members.append(_described(f"{name}[{key!r}]", value[key], start))
        start = members[-1].stop
    return Parts(name, type(value), keys, tuple(members), start)


def _tensor(name: str, value: Tensor | np.ndarray | np.generic) -> Tensor:
    if isinstance(value, Tensor):
        if (reason := obstacle(value)) and not value._is_zerotensor():
            raise DataError(f"a tensor of a sample{name} {reason}; expected a plain, strided one")
        if value.is_meta:
            raise DataError(f"a tensor of a sample{name} is on the meta device; expected one with data")
        return value
    try:
        return torch.from_numpy(np.array(value, order="C"))
    except (TypeError, ValueError):
        raise DataError(f"a sample{name} is an array of {value.dtype}, which PyTorch does not have") from None


def _fields(part: Field | Parts, value: Any, number: int) -> Iterator[tuple[Field, Any]]:
    """Each field, and its value in a sample."""
    if isinstance(part, Field):
        if part.number is None and isinstance(value, Tensor | np.ndarray | np.generic):
            value = _tensor(part.name, value)
            alike = (tuple(value.shape), value.dtype) == (part.shape, part.dtype)
        else:
            alike = type(value) is part.number
        if not alike:
            raise _unlike(part, value, number)
        if part.number is int and not -(1 << 63) <= value < 1 << 63:
            raise DataError(f"sample {number}{part.name} is {value}; expected an integer of 64 bits")
        yield part, value
        return
    if type(value) is not part.kind:
        raise _unlike(part, value, number)
    keys = tuple(value) if isinstance(value, Mapping) else tuple(range(len(value)))
    if keys != part.keys:
        raise _unlike(part, value, number)
    for key, member in zip(part.keys, part.members, strict=True):
        yield from _fields(member, value[key], number)


def _unlike(part: Field | Parts, value: Any, number: int) -> DataError:
    try:
        got = str(_described(part.name, value, 0))
    except DataError:
        got = f"a {type(value).__name__}"
    return DataError(f"sample {number}{part.name} is {got}; expected {part}, as before")


def _decoded(part: Field | Parts, record: np.ndarray) -> Any:
    if isinstance(part, Field):
        # A copy, because a tensor begins at a multiple of its element's size.
        value = torch.from_numpy(record[part.start : part.stop].copy()).view(part.dtype).reshape(part.shape)
        return value if part.number is None else part.number(value.item())
    values = [_decoded(member, record) for member in part.members]
    if issubclass(part.kind, Mapping):
        return dict(zip(part.keys, values, strict=True))
    return part.kind(*values) if hasattr(part.kind, "_fields") else part.kind(values)
