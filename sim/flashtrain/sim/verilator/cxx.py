"""The C++ compiler, and Verilator's own library, which is compiled once for all that is verilated."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from flashtrain.native.build_cache import BUILD, build_once, content_key
from flashtrain.native.compiler import compiler_version, cxx_compiler, progress, run
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
    folder = _runtime_folder(name, options)
    compiled = folder / f"{name}.o"

    def build() -> None:
        source = verilator_root() / "include" / f"{name}.cpp"
        with progress(f"compiling Verilator's {name}.cpp (done once)"):
            run_verilator(
                [cxx_compiler(), *options, "-c", source, "-o", compiled], folder / "build.log", name
            )

    build_once(folder, build)
    return compiled


def precompiled_header(options: Sequence[str], folder_of_use: Path) -> str:
    """An option that includes Verilator's header first, in a compiler that is run in this folder.

    To read that header takes longer than to compile most models. So it is compiled once with these options;
    a compiler with the same ones takes that, and with others reads the text.
    """
    folder = _runtime_folder("verilated_header", (*options, _HEADER))
    header = folder / "verilated_header.h"
    compiled = header.with_name(f"{header.name}.gch")

    def build() -> None:
        header.write_text(_HEADER)
        # For ccache: what is compiled is new with each time that it is.
        compiled.with_name(f"{compiled.name}.sum").write_text(folder.name)
        words = [cxx_compiler(), *options, "-x", "c++-header", header, "-o", compiled]
        run_verilator(words, folder / "build.log", header.name)

    build_once(folder, build)
    # The same for every clone, for ccache.
    return f"-include {os.path.relpath(header, folder_of_use.resolve())}"


def _runtime_folder(name: str, options: Sequence[str]) -> Path:
    """Where a part of Verilator's library goes that is compiled with these options."""
    # Where Verilator is installed makes no difference.
    flags = [option for option in options if not option.startswith("-I")]
    key = content_key(name, compiler_version(cxx_compiler()), json.dumps(tool_versions()), *flags)
    return (BUILD / "lib" / f"{name}-{key}").resolve()


def run_verilator(command: Sequence[object], log: Path, name: str) -> None:
    """`run` in the environment that Verilator needs."""
    run(command, log, name, verilator_environment())
