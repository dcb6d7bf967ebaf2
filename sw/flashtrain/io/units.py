"""Numbers with the units of fio: `4k` is 4096 bytes, `10us` is a time, and `10` is a time in seconds."""

import re
from collections.abc import Callable

_SIZE = re.compile(r"(0x[0-9a-f]{1,16}|[0-9]{1,18})(?:([kmgtp]?)(i?)b?)", re.IGNORECASE)
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


def byte_count(text: str) -> int:
    """A number of bytes. As in fio, `k` is 1024 and `ki` is 1000 (its option `kb_base` at 1024)."""
    match = _SIZE.fullmatch(text)
    count = -1
    if match is not None:
        power = " kmgtp".index(match[2].lower() or " ")
        count = int(match[1], 0 if match[1][:2].lower() == "0x" else 10)
        count *= (1000 if match[3] else 1024) ** power
    if not 0 <= count <= _MOST:
        raise ValueMistake("a number of bytes, such as 4k, 64k or 1m")
    return count


def size_bytes(text: str) -> int:
    """A number of bytes above 0."""
    try:
        count = byte_count(text)
    except ValueMistake:
        count = 0
    if not count:
        raise ValueMistake("a number of bytes above 0, such as 4k, 64k or 1m")
    return count


def time_in(unit: str) -> Callable[[str], int]:
    """The kind of times; `unit` (d, h, m, s, ms, us, ns) is that of bare numbers."""

    def nanoseconds(text: str) -> int:
        match = _TIME.fullmatch(text)
        time = -1 if match is None else round(float(match[1]) * _NANOSECONDS[(match[2] or unit).lower()])
        if not 0 <= time <= _MOST:
            raise ValueMistake("a time such as 10us, 2ms or 1s")
        return time

    return nanoseconds


def integer(least: int, most: int) -> Callable[[str], int]:
    """The kind of integers from `least` to `most`."""

    def number(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not least <= int(text) <= most:
            raise ValueMistake(f"an integer from {least} to {most}")
        return int(text)

    return number


def flag(text: str) -> bool:
    """1 or 0; the name of an option alone is 1."""
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueMistake("1 or 0")
    return text.lower() in _TRUE
