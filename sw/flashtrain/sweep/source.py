"""The digest of the code that measures: a result has that of the code it comes from."""

import hashlib
from functools import cache
from pathlib import Path

import flashtrain.spec

SUFFIXES = (".py", ".cpp", ".h", ".sv", ".json")
DIGITS = 12


@cache
def source_digest() -> str:
    """The first hexadecimal digits of the digest of all files of flashtrain, whichever folder they lie in."""
    texts = {
        path.relative_to(portion).as_posix(): path.read_bytes()
        for portion in map(Path, flashtrain.__path__)
        for path in portion.rglob("*")
        if path.suffix in SUFFIXES
    }
    digest = hashlib.sha256()
    for name in sorted(texts):
        digest.update(f"{name} {len(texts[name])}\n".encode() + texts[name])
    return digest.hexdigest()[:DIGITS]
