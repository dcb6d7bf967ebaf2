"""Compiles SystemVerilog and C++ into one shared library, to be called in-process through ctypes.

This is the fast way to simulate: no VPI, no public signals, Python called only when the C++ returns.

    sources = exported_sources(lambda: Controller(config), "flashtrain", repr(config))
    model = verilate(sources, "flashtrain", "Vtop")
    library = ctypes.CDLL(str(build_shared_library([model], [Path("harness.cpp")], "flashtrain")))

The harness includes the header of each model's class (here `Vtop.h`) and exports `extern "C"` functions. A
library may hold several models, each of which the harness instantiates as often as it likes. All steps cache
by content, so that a second start takes a fraction of a second.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    verilator_root,
)
from flashtrain.sim.build_cache import BUILD, build_once, content_key, files_key, read_sources, write_sources

_CXX_FLAGS = "-fPIC -std=gnu++17"
_VERILATOR_OPTIONS = (
    *("--cc", "--build", "-Wno-fatal"),
    *(f"-Wno-{kind}" for kind in UNAVOIDABLE_WARNINGS),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast"),
    # Many files of middling size: compilers take long over large ones, and one changed module does not
    # recompile the others. Few functions: what only one of them knows is no state.
    *("--output-split", "5000", "--output-split-cfuncs", "20000", "-j", str(os.cpu_count() or 1)),
    # One test of the reset for all registers of a process, which splitting would repeat for each.
    "-fno-split",
    *("-CFLAGS", _CXX_FLAGS),
)
_MAKE_OPTIONS = (*VERILATOR_MAKE_OPTIONS, "OPT_FAST=-O3", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2")
_HARNESS_OPTIONS = (
    "-O3",
    *_CXX_FLAGS.split(),
    "-DVERILATOR=1",
    "-DVM_COVERAGE=0",
    "-DVM_SC=0",
    "-DVM_TIMING=0",
)
_TRACE_DEFINES = ("-DVM_TRACE_FST=0", "-DVM_TRACE_SAIF=0")


@dataclass(frozen=True)
class Model:
    """A compiled model: its C++ class, and the folder with its headers and archives."""

    prefix: str
    folder: Path
    trace: bool


def exported_sources(
    make_top: Callable[[], wiring.Component], name: str, configuration: str, build_dir: Path = BUILD / "rtl"
) -> list[Path]:
    """Export the component that `make_top` builds, unless that was done before; returns the files."""

    def write(folder: Path) -> None:
        export_design(make_top(), name).write(folder)

    return sorted(exported(write, name, configuration, build_dir).glob("*.sv"))


def exported(
    write: Callable[[Path], None], name: str, configuration: str, build_dir: Path = BUILD / "rtl"
) -> Path:
    """The folder that `write` has filled with what it elaborates; called once per content.

    Elaboration of a large design takes longer than anything else in a warm start. `configuration` must
    name all that `write` depends on, beside the code of `flashtrain.spec`, `flashtrain.rtl` and
    `flashtrain.sim`.
    """
    code = [path.read_bytes() for package in (spec, rtl, sim) for path in _python_files(package)]
    key = content_key(json.dumps(tool_versions()), configuration, *code)
    folder = (build_dir / f"{name}-{key}").resolve()

    def export() -> None:
        with _progress(f"elaborating {name}"):
            write(folder)

    build_once(folder, export)
    return folder


def verilate(
    sources: Sequence[Path], top: str, prefix: str, build_dir: Path = BUILD / "model", trace: bool = False
) -> Model:
    """Compile `sources` with top module `top` into class `prefix`.

    With `trace` the model can write VCD files (`VerilatedVcdC`), at a cost in speed even when it does not.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    compiler = _compiler()
    files = read_sources(sources)
    options = [*_VERILATOR_OPTIONS, "--prefix", prefix, *(["--trace-vcd"] if trace else [])]
    make_options = [*_MAKE_OPTIONS, f"CXX={compiler}", f"LINK={compiler}"]
    # Which Python runs Verilator's scripts makes no difference.
    flags = [option for option in make_options if not option.startswith("PYTHON3=")]
    key = content_key(files_key(files), json.dumps(tool_versions()), _version(compiler), *options, *flags)
    folder = (build_dir / f"{top}-{key}").resolve()
    model = Model(prefix, folder / "obj", trace)

    def build() -> None:
        command = [verilator_binary(), *options, "--Mdir", model.folder, "--top-module", top]
        # The model alone: Verilator's own library is compiled once for all, with what they are linked to.
        targets = [f"lib{prefix}.a"]
        command += [word for option in (*make_options, *targets) for word in ("-MAKEFLAGS", option)]
        with _progress(f"compiling {top} with Verilator and {Path(compiler).name} (done once)"):
            _run([*command, *write_sources(files, folder / "src")], folder / "build.log", top)

    build_once(folder, build)
    return model


def build_shared_library(
    models: Sequence[Model], cpp: Sequence[Path], name: str, build_dir: Path = BUILD / "lib"
) -> Path:
    """Compile `cpp`, which are `.cpp` files and the headers that they include, and link them with `models`.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    compiler = _compiler()
    files = read_sources(cpp)
    include = verilator_root() / "include"
    traced = any(model.trace for model in models)
    options = [
        *_HARNESS_OPTIONS,
        *_TRACE_DEFINES,
        f"-DVM_TRACE={int(traced)}",
        f"-DVM_TRACE_VCD={int(traced)}",
    ]
    folders = [str(model.folder) for model in models]
    key = content_key(files_key(files), _version(compiler), json.dumps(tool_versions()), *options, *folders)
    folder = (build_dir / f"{name}-{key}").resolve()
    library = folder / f"lib{name}.so"

    def build() -> None:
        compiled = [path for path in write_sources(files, folder / "src") if path.suffix == ".cpp"]
        includes = [f"-I{path}" for path in (include, include / "vltstd", *folders)]
        archives = [model.folder / f"lib{model.prefix}.a" for model in models]
        runtime = ["verilated", "verilated_threads", *(["verilated_vcd_c"] if traced else [])]
        compiled += [include / f"{name}.cpp" for name in runtime]
        command = [compiler, *options, *includes, "-shared", "-Wl,-Bsymbolic", "-o", library]
        command += [*compiled, *archives, "-latomic"]
        with _progress(f"linking {name}"):
            _run(command, folder / "build.log", name)

    build_once(folder, build)
    return library


def _run(command: Sequence[object], log: Path, name: str) -> None:
    with log.open("w") as out:
        words = [str(word) for word in command]
        done = subprocess.run(words, env=verilator_environment(), stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        raise ToolError(f"{name} does not compile ({log}):\n{log.read_text()[-4000:]}")


def _version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], text=True, capture_output=True).stdout


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
