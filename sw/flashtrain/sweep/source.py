"""The digest of the code that measures: a result has that of the code it comes from."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import flashtrain.spec

SUFFIXES = (".py", ".cpp", ".h", ".sv", ".json")
DIGITS = 12


@cache
def source_digest() -> str:
    """The first hexadecimal digits of the digest of all packages of flashtrain, wherever they lie."""
    return digest_of(map(Path, flashtrain.__path__))


def digest_of(portions: Iterable[Path]) -> str:
    """The same of the packages in these folders; of several with one name only the first can be imported."""
    packages: dict[str, Path] = {}
    for portion in portions:
        for folder in portion.iterdir():
            packages.setdefault(folder.name, folder)
    digest = hashlib.sha256()
    for name in sorted(packages):
        files = {path.relative_to(packages[name]).as_posix(): path for path in packages[name].rglob("*")}
        for file in sorted(files):
            if files[file].suffix in SUFFIXES:
                text = files[file].read_bytes()
                digest.update(f"{name}/{file} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:DIGITS]
