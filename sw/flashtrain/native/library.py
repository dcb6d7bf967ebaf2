"""C and C++ sources to a shared library, compiled once, with typed functions."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .build_cache import content_key, files_key, read_sources, write_sources
from .compiler import c_compiler, compiler_version, cxx_compiler, progress, run
from .user_cache import UserCache, about, user_cache

OPTIONS = ("-O3", "-fPIC", "-shared", "-std=gnu++17", "-Wall", "-Wextra", "-Werror")

KIND = "native"
"""Of entries of the cache."""

Signature = tuple[Any, list[Any]]
"""Types of ctypes: of a function's result, and of its arguments."""


def native_library(
    name: str,
    sources: Sequence[Path],
    functions: Mapping[str, Signature],
    cache: UserCache | None = None,
    options: Sequence[str] = (),
) -> ctypes.CDLL:
    """Compile `sources` (`.cpp` files and the headers that they include), and load the result.

    The units are compiled as one: their names are different. cache: another one than the user's. options: of
    the compiler, beside `OPTIONS`.

    `functions`: the signatures of its `extern "C"` functions. Raises `ToolError` with the end of the log if
    something does not compile.
    """
    compiler, files = cxx_compiler(), read_sources(sources)
    key = content_key(files_key(files), compiler_version(compiler), *OPTIONS, *options)
    cache = cache or user_cache()
    work = sum(map(len, files.values()))
    file = f"lib{name}.so"

    def build(folder: Path) -> None:
        units = [path for path in write_sources(files, folder / "src") if path.suffix == ".cpp"]
        # One file holds all: to read the headers of the standard library takes longer than most units.
        whole = folder / "whole.cpp"
        whole.write_text("".join(f'#include "src/{path.name}"\n' for path in units), encoding="utf-8")
        seconds = cache.seconds_of(KIND, work)
        expected = "5 to 60 s" if seconds is None else about(seconds)
        with progress(f"compiling {name} with {Path(compiler).name} (done once, {expected})"):
            run([compiler, *OPTIONS, *options, whole, "-o", folder / file], folder / "build.log", name)

    library = cache.build(KIND, name, key, f"library {name}", build, work) / file
    cache.settle()
    return _loaded(library, functions)


def c_library(
    name: str, files: Mapping[str, str], functions: Mapping[str, Signature], options: Sequence[str]
) -> ctypes.CDLL:
    """Compile C files, by their names, with `options` of the compiler, and load the result."""
    compiler = c_compiler()
    key = content_key(files_key(files), compiler_version(compiler), *options)
    cache, file = user_cache(), f"lib{name}.so"

    def build(folder: Path) -> None:
        units = [path for path in write_sources(files, folder / "src") if path.suffix == ".c"]
        command = [compiler, *options, "-O2", "-fPIC", "-shared", *units, "-o", folder / file]
        run(command, folder / "build.log", name)

    library = cache.build(KIND, name, key, f"library {name}", build, sum(map(len, files.values()))) / file
    cache.settle()
    return _loaded(library, functions)


def _loaded(library: Path, functions: Mapping[str, Signature]) -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library))
    for function, (result, arguments) in functions.items():
        entry = getattr(loaded, function)
        entry.restype, entry.argtypes = result, arguments
    return loaded
