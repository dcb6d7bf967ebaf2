"""XML documents."""

import re
from pathlib import Path
from xml.etree import ElementTree

from .errors import InputError
from .text import read_text


def read_xml(path: Path) -> ElementTree.Element:
    """The root of a document of at most `limits.MOST_TEXT_BYTES`; `InputError`.

    A document type is refused: its entities are files and texts from elsewhere.
    """
    # The bytes are UTF-8, whatever the declaration says; ElementTree takes no text with one.
    text = re.sub(r"\A\ufeff?\s*<\?xml[^>]*\?>", "", read_text(path))
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(path, "has a document type; expected elements only")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise InputError(path, f"is no XML: {error}") from error
