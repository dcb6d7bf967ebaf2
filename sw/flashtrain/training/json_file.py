"""Documents of this package as JSON files, UTF-8, with errors that name the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from flashtrain.training.errors import TrainingError
from flashtrain.training.json_node import Node

ResultT = TypeVar("ResultT")


def write_json(
    path: Path, document: dict[str, Any], error: type[TrainingError], indent: int | None = 1
) -> None:
    """Write `document`; equal documents give equal bytes. Raises `error` if the file cannot be written.

    `indent`: None for one line, for documents that nobody reads.
    """
    try:
        separators = None if indent else (",", ":")
        text = json.dumps(document, indent=indent, separators=separators) + "\n"
        path.write_text(text, encoding="utf-8")
    except OSError as cause:
        raise error(f"{path}: cannot be written: {cause.strerror}") from cause


def read_json(path: Path, parse: Callable[[Node], ResultT], error: type[TrainingError]) -> ResultT:
    """The file's document as `parse` reads it. Raises `error` with the file and what was expected."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as cause:
        raise error(f"{path}: cannot be read: {cause.strerror}") from cause
    except UnicodeDecodeError as cause:
        raise error(f"{path}: not UTF-8 text: byte {cause.start}") from cause
    try:
        document = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as cause:
        raise error(f"{path}: not JSON: {cause}") from cause
    try:
        return parse(Node("", document, error))
    except RecursionError as cause:
        raise error(f"{path}: its loops are nested too deep") from cause
    except error as cause:
        raise error(f"{path}: {cause}") from cause


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no key may come twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return members
