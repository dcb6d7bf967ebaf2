"""Files of others as data: the one reader of input files, with limits that hold before it reads.

It takes regular files only. A file that is wrong is an :class:`InputError`. This names the file, what was
expected, and where it is possible the line or the key. `flashtrain.reading.arrays` reads NumPy's files.
"""

from .document import Node
from .errors import FlashtrainError, InputError
from .inflate import inflated
from .json_text import json_value, read_document, read_json
from .regular_file import begins_with, read_bytes
from .repeated import repeated
from .text import read_lines, read_text
from .toml_text import read_toml, toml_value
from .xml_text import read_xml

__all__ = [
    "FlashtrainError", "InputError", "Node", "begins_with", "inflated", "json_value", "read_bytes",
    "read_document", "read_json", "read_lines", "read_text", "read_toml", "read_xml", "repeated",
    "toml_value",
]  # fmt: skip
