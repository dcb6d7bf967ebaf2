"""Reading a document with exact errors: each names the file, the key, and what was expected there."""

import json
from collections.abc import Callable
from enum import Enum
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from .errors import InputError

EnumT = TypeVar("EnumT", bound=Enum)
ItemT = TypeVar("ItemT")


class Node:
    """A value of the document in `file`, and the key that leads to it; each access checks what it expects."""

    def __init__(self, file: Path, key: str, value: Any) -> None:
        self.file = file
        self.key = key
        self.value = value

    def fail(self, expected: str) -> InputError:
        shown = json.dumps(self.value)
        got = shown if len(shown) <= 40 else f"{shown[:37]}..."
        return InputError(self.file, f"{self.key or 'document'}: expected {expected}, got {got}")

    def keys(self, *names: str, optional: tuple[str, ...] = ()) -> "list[Node]":
        """The members `names` of an object, which may also have `optional` keys, but no others."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        for name in names:
            if name not in self.value:
                raise InputError(self.file, f"{self._member(name)}: missing")
        for name in self.value:
            if name not in (*names, *optional):
                known = ", ".join((*names, *optional))
                raise InputError(self.file, f"{self._member(name)}: unknown; expected only {known}")
        return [self._child(name) for name in names]

    def member(self, name: str) -> "Node":
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        if name not in self.value:
            raise InputError(self.file, f"{self._member(name)}: missing")
        return self._child(name)

    def optional(self, name: str) -> "Node | None":
        """The member of that name of an object, or None."""
        return self._child(name) if name in self.value else None

    def _child(self, name: str) -> "Node":
        return Node(self.file, self._member(name), self.value[name])

    def _member(self, name: str) -> str:
        return f"{self.key}.{name}" if self.key else name

    def items(self, parse: "Callable[[Node], ItemT]") -> tuple[ItemT, ...]:
        if not isinstance(self.value, list):
            raise self.fail("a list")
        return tuple(parse(Node(self.file, f"{self.key}[{i}]", item)) for i, item in enumerate(self.value))

    def members(self, parse: "Callable[[Node], ItemT]") -> dict[str, ItemT]:
        """The members of an object of any keys."""
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        return {name: parse(self._child(name)) for name in self.value}

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

    def count(self) -> int:
        if type(self.value) is not int or self.value < 0:
            raise self.fail("an integer of at least 0")
        return self.value

    def integer(self) -> int:
        if type(self.value) is not int:
            raise self.fail("an integer")
        return self.value

    def switch(self) -> bool:
        if type(self.value) is not bool:
            raise self.fail("true or false")
        return self.value

    def exactly(self, expected: str | int) -> None:
        if type(self.value) is not type(expected) or self.value != expected:
            raise self.fail(json.dumps(expected))

    def one_of(self, expected: tuple[int, ...]) -> None:
        if type(self.value) is not int or self.value not in expected:
            *most, last = map(str, expected)
            raise self.fail(f"{', '.join(most)} or {last}" if most else last)

    def positive_number(self) -> float:
        if type(self.value) not in (int, float) or not 0 < self.value < inf:
            raise self.fail("a number above 0")
        return float(self.value)

    def number(self) -> float:
        if type(self.value) not in (int, float) or not 0 <= self.value < inf:
            raise self.fail("a number of at least 0")
        return float(self.value)

    def choice(self, choices: dict[str, ItemT]) -> ItemT:
        if not isinstance(self.value, str) or self.value not in choices:
            raise self.fail(f"one of {', '.join(choices)}")
        return choices[self.value]

    def member_of(self, kind: type[EnumT]) -> EnumT:
        return self.choice({member.value: member for member in kind})
