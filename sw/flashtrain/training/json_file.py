"""Documents of this package as JSON files, UTF-8."""

import json
from pathlib import Path
from typing import Any

from flashtrain.reading.limits import MOST_JSON_BYTES
from flashtrain.writing import OutputError, write_text


def write_json(path: Path, document: dict[str, Any], indent: int | None = 1) -> None:
    """Write `document`; equal documents give equal bytes.

    Raises `OutputError` if the file cannot be written, or if it would have too many bytes to be read.

    `indent`: None for one line, for documents that nobody reads.
    """
    separators = None if indent else (",", ":")
    text = json.dumps(document, indent=indent, separators=separators) + "\n"
    if len(text) > MOST_JSON_BYTES:
        raise OutputError(f"{path}: has {len(text):,} bytes; expected at most {MOST_JSON_BYTES:,}")
    write_text(path, text)
