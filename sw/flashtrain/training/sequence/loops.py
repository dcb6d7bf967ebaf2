"""Loops of a training command sequence: how often a step is carried out, and the steps without loops."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from flashtrain.training.sequence.steps import Append, Compute, Read, Repeat, Step, TensorInfo

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def placeholders(name: str) -> tuple[str, ...]:
    """The names of the indices in the name of a tensor or a layer: `w` and `i` of ``activation/{w}/{i}``."""
    return tuple(_PLACEHOLDER.findall(name))


def with_times(
    steps: Iterable[Step], counts: Mapping[str, int], times: int = 1
) -> Iterator[tuple[Step, int]]:
    """Each step that is no loop, in order, and how often the loops around it carry it out."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from with_times(step.steps, counts, times * counts[step.over])
        else:
            yield step, times


def with_depth(steps: Iterable[Step], depth: int = 0) -> Iterator[tuple[Step, int]]:
    """Each step in order, loops before their steps, and the number of loops around it."""
    for step in steps:
        yield step, depth
        if isinstance(step, Repeat):
            yield from with_depth(step.steps, depth + 1)


def unrolled(
    steps: Iterable[Step], counts: Mapping[str, int], values: Mapping[str, int] | None = None
) -> Iterator[Step]:
    """The steps one by one, without loops, with the value of each index in its places."""
    values = values or {}
    for step in steps:
        match step:
            case Repeat():
                order = range(counts[step.over])
                for value in reversed(order) if step.down else order:
                    yield from unrolled(step.steps, counts, {**values, step.over: value})
            case Append() | Read() if values:
                yield replace(step, tensor=_filled(step.tensor, values))
            case Compute() if values:
                yield replace(
                    step,
                    layer=_filled(step.layer, values),
                    takes=tuple(_filled(name, values) for name in step.takes),
                    gives=tuple(_filled(name, values) for name in step.gives),
                )
            case _:
                yield step


def unrolled_tensors(tensor: TensorInfo, counts: Mapping[str, int]) -> Iterator[TensorInfo]:
    """The tensor for each value of the indices in its name."""
    names = tuple(dict.fromkeys(placeholders(tensor.name)))
    for values in product(*(range(counts[name]) for name in names)):
        yield replace(tensor, name=_filled(tensor.name, dict(zip(names, values, strict=True))))


def _filled(name: str, values: Mapping[str, int]) -> str:
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), name) if "{" in name else name
