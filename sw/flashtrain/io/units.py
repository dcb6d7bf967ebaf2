"""Numbers with the units of fio: `4k` is 4096 bytes, `10us` is a time, and `10` is a time in seconds."""

import re

_SIZE = re.compile(r"([0-9]{1,18})([kmgt]?)b?", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)(d|h|m|s|ms|us|ns|sec|msec|usec|nsec)?", re.IGNORECASE)
_MOST = (1 << 62) - 1
"""Bytes, or nanoseconds."""
_NANOSECONDS = {
    "d": 86_400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1,
    "sec": 10**9, "msec": 10**6, "usec": 1000, "nsec": 1,
}  # fmt: skip
_TRUE, _FALSE = ("1", "true", "yes", "on", ""), ("0", "false", "no", "off")


class ValueMistake(ValueError):
    """A text is not a value of its kind; the message says what is expected."""


def size_bytes(text: str) -> int:
    """A positive number of bytes; k, m, g and t are powers of 1024."""
    match = _SIZE.fullmatch(text)
    size = 0 if match is None else int(match[1]) << 10 * " kmgt".index(match[2].lower() or " ")
    if not 0 < size <= _MOST:
        raise ValueMistake("a number of bytes above 0, such as 4k, 64k or 1m")
    return size


def nanoseconds(text: str) -> int:
    """A time of at least 1 ns; the units are d, h, m, s, ms, us and ns."""
    match = _TIME.fullmatch(text)
    time = 0 if match is None else round(float(match[1]) * _NANOSECONDS[(match[2] or "s").lower()])
    if not 0 < time <= _MOST:
        raise ValueMistake("a time above 0, such as 10us, 2ms or 1s")
    return time


def integer(least: int, most: int) -> "IntegerKind":
    """The kind of integers in this range."""
    return IntegerKind(least, most)


class IntegerKind:
    """Integers from `least` to `most`."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most

    def __call__(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not self._least <= int(text) <= self._most:
            raise ValueMistake(f"an integer from {self._least} to {self._most}")
        return int(text)


def flag(text: str) -> bool:
    """1 or 0; the name of an option alone is 1."""
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueMistake("1 or 0")
    return text.lower() in _TRUE
