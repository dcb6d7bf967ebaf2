"""Rules of the standard for the value of a field."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """A rule, in words and as a check of the bytes of a field."""

    words: str
    holds: Callable[[bytes], bool]
    text: bool = False


def _number(check: Callable[[int], bool]) -> Callable[[bytes], bool]:
    return lambda raw: check(int.from_bytes(raw, "little"))


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda raw: re.fullmatch(pattern, raw) is not None


def equal(value: int) -> Rule:
    return Rule(f"{value:#x}", _number(lambda found: found == value))


def least(value: int) -> Rule:
    return Rule(f"{value:#x} or more", _number(lambda found: found >= value))


def all_of(mask: int) -> Rule:
    return Rule(f"bits {mask:#x} set", _number(lambda found: found & mask == mask))


def one_of(mask: int) -> Rule:
    return Rule(f"a bit of {mask:#x} set", _number(lambda found: bool(found & mask)))


ANY = Rule("any", lambda raw: True)
NOT_ZERO = Rule("not 0", any)
RESERVED = Rule("reserved", lambda raw: not any(raw))
ASCII = Rule("ASCII", _matches(rb"(?=.*\S)[\x20-\x7e]+"), True)
NAME = Rule("NQN", _matches(rb"nqn\.\d{4}-\d\d\.[\x21-\x7e]+\0+"), True)
