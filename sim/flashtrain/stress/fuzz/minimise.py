"""Leaves out of a failing run what it does not need to fail."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from flashtrain.spec import FlashtrainError

from .acts import Act, Cut, Submit

T = TypeVar("T")
_MOST_LINES = 30
Replay = Callable[[list[Act]], FlashtrainError | None]


def minimised(acts: list[Act], replay: Replay, seconds: float) -> str:
    """The fewest acts found within `seconds` that still fail, and how they do, in words."""
    deadline = time.monotonic() + seconds
    if replay(acts) is None:
        return "played again it did not fail"
    acts = _fewer(acts, lambda some: replay(some) is not None, deadline)
    for number in range(len(acts) - 1, -1, -1):
        act = acts[number]
        if not isinstance(act, Submit | Cut):
            continue
        kept = len(act.commands) if isinstance(act, Cut) or act.tail is None else act.tail

        def fails(some: list, act: Submit | Cut = act, number: int = number, kept: int = kept) -> bool:
            return replay([*acts[:number], _with(act, some, kept), *acts[number + 1 :]]) is not None

        acts[number] = _with(act, _fewer(list(act.commands[:kept]), fails, deadline), kept)
    return f"It takes no more than:\n{_listed(acts)}\nto see: {replay(acts)}"


def _with(act: Submit | Cut, commands: list, kept: int) -> Submit | Cut:
    """With these commands for its first `kept`; the tail stays."""
    if isinstance(act, Cut):
        return replace(act, commands=tuple(commands))
    tail = None if act.tail is None else len(commands)
    return replace(act, commands=(*commands, *act.commands[kept:]), tail=tail)


def _fewer(items: list[T], fails: Callable[[list[T]], bool], deadline: float) -> list[T]:
    """Leave out pieces, ever smaller ones, as long as it fails without them."""
    size = max(1, len(items) // 2)
    while items:
        start = 0
        while start < len(items):
            if time.monotonic() > deadline:
                return items
            without = items[:start] + items[start + size :]
            if fails(without):
                items = without
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return items


def _listed(acts: list[Act]) -> str:
    lines: list[str] = []
    for act in acts:
        if isinstance(act, Submit | Cut):
            lines.append(f"  {type(act).__name__.lower()} of {len(act.commands)} commands:")
            lines += [f"    {command}" for command in act.commands]
        else:
            lines.append(f"  {act}")
    left_out = len(lines) - _MOST_LINES
    if left_out > 0:
        lines = [f"  ... {left_out} lines before these", *lines[left_out:]]
    return "\n".join(lines)
