"""Documents of this package as JSON files, UTF-8."""

import json
from pathlib import Path
from typing import Any

from flashtrain.reading.limits import MOST_JSON_BYTES
from flashtrain.training.errors import TrainingError


def write_json(
    path: Path, document: dict[str, Any], error: type[TrainingError], indent: int | None = 1
) -> None:
    """Write `document`; equal documents give equal bytes.

    Raises `error` if the file cannot be written, or if it would have too many bytes to be read.

    `indent`: None for one line, for documents that nobody reads.
    """
    separators = None if indent else (",", ":")
    text = json.dumps(document, indent=indent, separators=separators) + "\n"
    if len(text) > MOST_JSON_BYTES:
        raise error(f"{path}: has {len(text):,} bytes; expected at most {MOST_JSON_BYTES:,}")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as cause:
        raise error(f"{path}: cannot be written: {cause.strerror}") from cause
