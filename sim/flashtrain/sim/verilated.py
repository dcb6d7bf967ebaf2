"""Compiles SystemVerilog and a C++ harness into one shared library, to be called in-process through ctypes.

This is the fast way to simulate: no VPI, no public signals, Python called only when the harness returns.

    sources = exported_sources(lambda: Controller(config), "flashtrain", repr(config))
    library = ctypes.CDLL(str(build_shared_library(sources, [Path("harness.cpp")], "flashtrain")))

The harness includes `Vtop.h` and uses class `Vtop`, whatever the top module is called, and exports `extern
"C"` functions. Both steps cache by content, so that a second start takes a fraction of a second.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from amaranth.lib import wiring

import flashtrain.rtl as rtl
import flashtrain.sim as sim
import flashtrain.spec as spec
from flashtrain.rtl.export import UNAVOIDABLE_WARNINGS, export_design
from flashtrain.rtl.tools import (
    VERILATOR_MAKE_OPTIONS,
    ToolError,
    tool_versions,
    verilator_binary,
    verilator_environment,
)
from flashtrain.sim.build_cache import BUILD, build_once, content_key, files_key, read_sources, write_sources

_VERILATOR_OPTIONS = (
    *("--cc", "--exe", "--build", "--prefix", "Vtop", "-Wno-fatal"),
    *(f"-Wno-{kind}" for kind in UNAVOIDABLE_WARNINGS),
    # Speed: measured on a design of this shape, dataflow optimisation loses a tenth.
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "-fno-dfg"),
    # Many files and functions of middling size: compilers take long over large ones, and one changed module
    # does not recompile the others.
    *("--output-split", "5000", "--output-split-cfuncs", "2000", "-j", str(os.cpu_count() or 1)),
    *("-CFLAGS", "-fPIC -std=gnu++17", "-LDFLAGS", "-shared -latomic"),
)
_MAKE_OPTIONS = (*VERILATOR_MAKE_OPTIONS, "OPT_FAST=-O3", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2")


def exported_sources(
    make_top: Callable[[], wiring.Component], name: str, configuration: str, build_dir: Path = BUILD / "rtl"
) -> list[Path]:
    """Export the component that `make_top` builds, unless that was done before; returns the files.

    Elaboration of a large design takes longer than anything else in a warm start. `configuration` must
    name all that `make_top` depends on, beside the code of `flashtrain.spec`, `flashtrain.rtl` and
    `flashtrain.sim`.
    """
    code = [path.read_bytes() for package in (spec, rtl, sim) for path in _python_files(package)]
    key = content_key(json.dumps(tool_versions()), configuration, *code)
    folder = (build_dir / f"{name}-{key}").resolve()

    def export() -> None:
        with _progress(f"elaborating {name}"):
            export_design(make_top(), name).write(folder)

    build_once(folder, export)
    return sorted(folder.glob("*.sv"))


def build_shared_library(
    sources: Sequence[Path],
    cpp: Sequence[Path],
    top: str,
    build_dir: Path = BUILD / "lib",
    trace: bool = False,
) -> Path:
    """Verilate `sources` with top module `top`, compile them with `cpp`, and return the path of the library.

    `cpp` holds the harness: `.cpp` files, and the headers that they include. With `trace` the model can write
    VCD files (`VerilatedVcdC`), at a cost in speed even when it does not.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    compiler = _compiler()
    files = read_sources([*sources, *cpp])
    options = [*_VERILATOR_OPTIONS, *(["--trace-vcd"] if trace else [])]
    make_options = [*_MAKE_OPTIONS, f"CXX={compiler}", f"LINK={compiler}"]
    version = subprocess.run([compiler, "--version"], text=True, capture_output=True).stdout
    key = content_key(files_key(files), json.dumps(tool_versions()), version, *options, *make_options)
    folder = (build_dir / f"{top}-{key}").resolve()
    library = folder / "obj" / f"lib{top}.so"

    def build() -> None:
        inputs = [path for path in write_sources(files, folder / "src") if path.suffix in _COMPILED]
        command = [
            verilator_binary(),
            *options,
            "--Mdir",
            library.parent,
            "-o",
            library.name,
            "--top-module",
            top,
        ]
        command += [word for option in make_options for word in ("-MAKEFLAGS", option)]
        log = folder / "build.log"
        with (
            _progress(f"compiling {top} with Verilator and {Path(compiler).name} (done once)"),
            log.open("w") as out,
        ):
            done = subprocess.run(
                [*command, *inputs], env=verilator_environment(), stdout=out, stderr=subprocess.STDOUT
            )
        if done.returncode:
            raise ToolError(f"{top} does not compile ({log}):\n{log.read_text()[-4000:]}")

    build_once(folder, build)
    return library


_COMPILED = (".sv", ".v", ".vlt", ".cpp")
"""What goes on Verilator's command line; headers only lie beside it."""


def _compiler() -> str:
    """Path of a C++ compiler. Clang takes a third of the time of g++ for this kind of code."""
    for name in ("clang++", "g++", "c++"):
        path = shutil.which(name)
        if path:
            return path
    raise ToolError("no C++ compiler is installed: 'apt-get install g++' brings one")


def _python_files(package: ModuleType) -> list[Path]:
    return sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.py"))


@contextmanager
def _progress(what: str) -> Iterator[None]:
    """Say on stderr what takes long, and how long it took."""
    print(f"flashtrain: {what} ...", end="", file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        yield
    finally:
        print(f" {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
