"""The C++ compiler, and Verilator's own library, which is compiled once for all that is verilated."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from flashtrain.native.build_cache import content_key
from flashtrain.native.compiler import compiler_version, cxx_compiler, progress, run
from flashtrain.native.user_cache import user_cache
from flashtrain.rtl.export.tools import tool_versions, verilator_environment, verilator_root

CXX_OPTIONS = ("-fPIC", "-std=gnu++17")

_HEADER = """\
#include "verilated.h"
// Verilator's cold functions run once, at the start: to optimise them is a fifth of the time to compile.
#if defined(__GNUC__) && !defined(__clang__)
#undef VL_ATTR_COLD
#define VL_ATTR_COLD __attribute__((cold, optimize("O0")))
#endif
"""

HEADER_KEY = content_key(_HEADER)
"""For the keys of all that includes this header first."""


def runtime_options(traced: bool, optimization: str = "-O3") -> tuple[str, ...]:
    """Options for everything that includes Verilator's headers. `traced`: models write VCD files."""
    include = verilator_root() / "include"
    unused = ("COVERAGE", "SC", "TIMING", "TRACE_FST", "TRACE_SAIF")
    return (
        optimization,
        *CXX_OPTIONS,
        *(f"-I{path}" for path in (include, include / "vltstd")),
        "-DVERILATOR=1",
        *(f"-DVM_{name}=0" for name in unused),
        *(f"-DVM_{name}={int(traced)}" for name in ("TRACE", "TRACE_VCD")),
    )


def runtime_object(name: str, traced: bool = False, optimization: str = "-O3") -> Path:
    """The object file of `name`.cpp of Verilator's own library; compiled once."""
    options = runtime_options(traced, optimization)

    def build(folder: Path) -> None:
        source = verilator_root() / "include" / f"{name}.cpp"
        words = [cxx_compiler(), *options, "-c", source, "-o", folder / f"{name}.o"]
        with progress(f"compiling Verilator's {name}.cpp (done once, 1 to 30 s)"):
            run_verilator(words, folder / "build.log", name)

    return _build(name, options, f"Verilator's {name}.cpp", build) / f"{name}.o"


def precompiled_header(options: Sequence[str]) -> Path:
    """Verilator's header, which a compiler is to include first.

    To read that header takes longer than to compile most models. So it is compiled once with these options;
    a compiler with the same ones takes that, and with others reads the text.
    """
    name = "verilated_header"

    def build(folder: Path) -> None:
        # Clang compares the headers with those that it has read: they are to stay, whoever uses the result.
        for path in (verilator_root() / "include").glob("*.h"):
            shutil.copy(path, folder)
        header = folder / f"{name}.h"
        header.write_text(_HEADER)
        compiled = header.with_name(f"{header.name}.gch")
        # For ccache: what is compiled is new with each time that it is.
        compiled.with_name(f"{compiled.name}.sum").write_text(folder.name)
        words = [cxx_compiler(), *options, "-x", "c++-header", header, "-o", compiled]
        run_verilator(words, folder / "build.log", header.name)

    return _build(name, (*options, _HEADER), "Verilator's header, precompiled", build) / f"{name}.h"


def _build(name: str, options: Sequence[str], what: str, build: Callable[[Path], None]) -> Path:
    """The entry of the cache with a part of Verilator's library that is compiled with these options."""
    # Where Verilator is installed makes no difference.
    flags = [option for option in options if not option.startswith("-I")]
    key = content_key(name, compiler_version(cxx_compiler()), json.dumps(tool_versions()), *flags)
    return user_cache().build("runtime", name, key, what, build)


def run_verilator(command: Sequence[object], log: Path, name: str) -> None:
    """`run` in the environment that Verilator needs."""
    run(command, log, name, verilator_environment())
