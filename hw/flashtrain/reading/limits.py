"""Limits of input files (docs/security.md has them in a table)."""

MOST_TOML_BYTES = 256 << 10
"""Of a configuration or a sweep."""
MOST_JSON_BYTES = 32 << 20
"""Of a document. Its values take up to 24 times as much memory: an empty list and its comma are 3 bytes."""
MOST_TEXT_BYTES = 1 << 20
"""Of a job file."""
MOST_SECRET_BYTES = 4 << 10
"""Of a file with one secret."""
MOST_LINES_BYTES = 1 << 30
"""Of a file that is read line by line: a trace, or the journal of a sweep."""
MOST_LINE_BYTES = 64 << 10
"""Of each of its lines."""
MOST_HEADER_BYTES = 1 << 20
"""Of an archive, in front of each of its files."""
MOST_XZ_BYTES = 256 << 20
"""Memory that xz takes to unpack a file."""

MOST_JSON_DEPTH = 64
"""Objects and lists inside each other."""
MOST_TOML_DEPTH = 16
"""Tables and lists inside each other, and parts of a key with dots between them."""
INTEGERS = range(-(1 << 63), 1 << 63)
"""Integers of a document."""
MOST_DIGITS = 20
"""Characters of an integer in a text."""

MOST_ARRAYS = 4096
"""Arrays of a file."""
MOST_ARRAY_BYTES = 4 << 30
"""All arrays of a file together, in memory."""
MOST_UNPACKED_BYTES = 256 << 20
"""The same of a compressed file, unless that is less than `MOST_GROWTH` times its size."""
MOST_GROWTH = 16
