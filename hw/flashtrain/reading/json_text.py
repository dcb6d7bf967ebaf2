"""JSON (RFC 8259) of limited size, depth and digits, without what another reader would take otherwise."""

import json
import re
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from .document import Node
from .errors import ContentError, FlashtrainError, InputError
from .limits import INTEGERS, MOST_DIGITS, MOST_JSON_BYTES, MOST_JSON_DEPTH
from .repeated import repeated
from .text import read_text

ResultT = TypeVar("ResultT")

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKETS = re.compile(r"[^][{}]+")
_ONE_KIND = str.maketrans("{}", "[]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_document(path: Path, parse: Callable[[Node], ResultT]) -> ResultT:
    """The file's document as `parse` reads it; `InputError` with the key and what was expected.

    The same of an error of `parse` that does not name the file.
    """
    document = read_json(path)
    try:
        return parse(Node(path, "", document))
    except InputError:
        raise
    except FlashtrainError as error:
        raise InputError(path, str(error)) from error


def read_json(path: Path) -> Any:
    """The value in a file; `InputError`."""
    text = read_text(path, MOST_JSON_BYTES)
    try:
        return json_value(text)
    except ContentError as error:
        raise InputError(path, f"not JSON: {error}") from error
    except MemoryError as error:
        raise InputError(path, "takes more memory than there is") from error


def json_value(text: str) -> Any:
    """The value of a text of limited length; `ContentError`.

    A key that comes twice, NaN, numbers beyond float64 and int64, and half a pair of surrogates are refused.
    """
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except ContentError:
        raise
    except (ValueError, RecursionError) as error:
        raise ContentError(str(error)) from error
    if _SURROGATE.search(text):
        _check_surrogates(value)
    return value


def _check_depth(text: str) -> None:
    """Raise `ContentError` for too many brackets inside each other: each round takes the innermost away."""
    brackets = _BRACKETS.sub("", _STRING.sub("", text)).translate(_ONE_KIND)
    for _ in range(MOST_JSON_DEPTH):
        fewer = brackets.replace("[]", "")
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    if "[]" in brackets or brackets.count("[") > MOST_JSON_DEPTH:
        raise ContentError(f"nested too deep; expected at most {MOST_JSON_DEPTH} objects and lists")


def _check_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ContentError("half of a pair of surrogates; expected a character") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no key may come twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ContentError(f"the key {repeated(name for name, _ in pairs)!r} comes twice")
    return members


def integer(text: str) -> int:
    """The integer in decimal digits; `ContentError` beyond int64."""
    if len(text) > MOST_DIGITS or int(text) not in INTEGERS:
        raise ContentError(f"an integer of {len(text.lstrip('-'))} digits; expected one of 64 bits")
    return int(text)


def finite(text: str) -> float:
    """The number; `ContentError` unless it is finite."""
    number = float(text)
    if not -inf < number < inf:
        raise ContentError(f"{text if len(text) <= 40 else f'{text[:37]}...'}; expected a finite number")
    return number


def _constant(text: str) -> NoReturn:
    raise ContentError(f"{text}; expected a finite number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=integer, parse_float=finite, parse_constant=_constant
)
