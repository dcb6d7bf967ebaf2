"""C++ sources to a shared library, compiled once, with typed functions."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .build_cache import BUILD, build_once, content_key, files_key, read_sources, write_sources
from .compiler import compiler_version, cxx_compiler, progress, run

OPTIONS = ("-O3", "-fPIC", "-shared", "-std=gnu++17", "-Wall", "-Wextra", "-Werror")

Signature = tuple[Any, list[Any]]
"""Types of ctypes: of a function's result, and of its arguments."""


def native_library(
    name: str, sources: Sequence[Path], functions: Mapping[str, Signature], build_dir: Path = BUILD / "native"
) -> ctypes.CDLL:
    """Compile `sources` (`.cpp` files and the headers that they include), and load the result.

    `functions`: the signatures of its `extern "C"` functions. Raises `ToolError` with the end of the log if
    something does not compile.
    """
    compiler, files = cxx_compiler(), read_sources(sources)
    key = content_key(files_key(files), compiler_version(compiler), *OPTIONS)
    folder = (build_dir / f"{name}-{key}").resolve()
    library = folder / f"lib{name}.so"

    def build() -> None:
        units = [path for path in write_sources(files, folder / "src") if path.suffix == ".cpp"]
        with progress(f"compiling {name} with {Path(compiler).name} (done once)"):
            run([compiler, *OPTIONS, *units, "-o", library], folder / "build.log", name)

    build_once(folder, build)
    loaded = ctypes.CDLL(str(library))
    for function, (result, arguments) in functions.items():
        entry = getattr(loaded, function)
        entry.restype, entry.argtypes = result, arguments
    return loaded
