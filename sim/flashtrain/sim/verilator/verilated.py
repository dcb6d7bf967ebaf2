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
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from amaranth.lib import wiring

import flashtrain.rtl as rtl
import flashtrain.sim as sim
import flashtrain.spec as spec
from flashtrain.native.build_cache import (
    BUILD,
    build_once,
    content_key,
    files_key,
    is_built,
    read_sources,
    write_sources,
)
from flashtrain.native.compiler import compiler_version, cxx_compiler, progress
from flashtrain.rtl.export.systemverilog import UNAVOIDABLE_WARNINGS, export_design
from flashtrain.rtl.export.tools import (
    VERILATOR_MAKE_OPTIONS,
    tool_versions,
    verilator_binary,
)
from flashtrain.sim.verilator.cxx import (
    CXX_OPTIONS,
    precompiled_header,
    run_verilator,
    runtime_object,
    runtime_options,
)

SECONDS_BETWEEN_LINES = 10.0
"""On stderr, of how far a build is."""

_VERILATOR_OPTIONS = (
    *("--cc", "--build", "-Wno-fatal"),
    *(f"-Wno-{kind}" for kind in UNAVOIDABLE_WARNINGS),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast"),
    # Few functions: what only one of them knows is no state.
    *("--output-split", "5000", "--output-split-cfuncs", "5000"),
    # One test of the reset for all registers of a process, which splitting would repeat for each.
    "-fno-split",
    *("-CFLAGS", " ".join(CXX_OPTIONS)),
)


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
        with progress(f"elaborating {name}"):
            write(folder)

    build_once(folder, export)
    return folder


@dataclass(frozen=True)
class ModelSource:
    """The sources of a model: files with top module `top`; its class is to be called `prefix`.

    optimization: the compiler's, of the code that runs in each cycle.
    """

    files: Sequence[Path]
    top: str
    prefix: str
    trace: bool = False
    optimization: str = "-O3"


def verilate(
    sources: Sequence[Path], top: str, prefix: str, build_dir: Path = BUILD / "model", trace: bool = False
) -> Model:
    """Compile `sources` with top module `top` into class `prefix`.

    With `trace` the model can write VCD files (`VerilatedVcdC`), at a cost in speed even when it does not.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    return verilate_all([ModelSource(sources, top, prefix, trace)], top, build_dir)[0]


def verilate_all(sources: Sequence[ModelSource], name: str, build_dir: Path = BUILD / "model") -> list[Model]:
    """Compile each of the sources, as many at a time as there are processors; `name` is said on stderr."""
    compiler = cxx_compiler()
    builds = [_ModelBuild(source, compiler, build_dir) for source in sources]
    missing = [build for build in builds if not build.is_done()]
    if missing:
        count = "" if len(missing) == 1 else f", {len(missing)} models,"
        with progress(f"compiling {name}{count} with Verilator and {Path(compiler).name} (done once)"):
            said = time.monotonic()
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                for number, _ in enumerate(pool.map(_ModelBuild.run, missing), 1):
                    if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
                        said = time.monotonic()
                        text = f"flashtrain: {number} of {len(missing)} models compiled"
                        print(text, file=sys.stderr, flush=True)
    return [build.model for build in builds]


class _ModelBuild:
    """How one model is compiled, into a folder with a name that says all that it depends on."""

    def __init__(self, source: ModelSource, compiler: str, build_dir: Path) -> None:
        self._source = source
        self._files = read_sources(source.files)
        self._options = [*_VERILATOR_OPTIONS, "--prefix", source.prefix]
        if source.trace:
            self._options.append("--trace-vcd")
        levels = [f"OPT_FAST={source.optimization}", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2"]
        self._make_options = [*VERILATOR_MAKE_OPTIONS, *levels, f"CXX={compiler}", f"LINK={compiler}"]
        # Which Python runs Verilator's scripts makes no difference.
        flags = [option for option in self._make_options if not option.startswith("PYTHON3=")]
        tools = (json.dumps(tool_versions()), compiler_version(compiler))
        key = content_key(files_key(self._files), *tools, *self._options, *flags)
        self._folder = (build_dir / f"{source.top}-{key}").resolve()
        self.model = Model(source.prefix, self._folder / "obj", source.trace)

    def is_done(self) -> bool:
        return is_built(self._folder)

    def run(self) -> None:
        build_once(self._folder, self._build)

    def _build(self) -> None:
        top = self._source.top
        options = runtime_options(self._source.trace, self._source.optimization)
        header = precompiled_header(options, self.model.folder)
        command = [verilator_binary(), *self._options, "--Mdir", self.model.folder, "--top-module", top]
        command += ["-CFLAGS", header]
        # The model alone: Verilator's own library is compiled once for all.
        targets = [f"lib{self.model.prefix}.a"]
        command += [word for option in (*self._make_options, *targets) for word in ("-MAKEFLAGS", option)]
        run_verilator(
            [*command, *write_sources(self._files, self._folder / "src")], self._folder / "build.log", top
        )


_OURS = (
    "_ZN10flashtrain*", "_ZNK10flashtrain*", "_ZZN10flashtrain*", "_ZGVN10flashtrain*", "_ZGVZN10flashtrain*",
)  # fmt: skip
_SYMBOLS = f"{{ global: *; local: {' '.join(f'{name};' for name in _OURS)} }};\n"
"""Hidden are the C++ symbols of namespace `flashtrain`.

The static members of templates are unique in a process otherwise. Libraries of two configurations would share
them by name: the second one would then use facts about the models of the first. Verilator's own stay unique,
because a library with thread-local objects of its own is never unmapped.
"""


def build_shared_library(
    models: Sequence[Model],
    cpp: Sequence[Path],
    name: str,
    build_dir: Path = BUILD / "lib",
    optimization: str = "-O3",
) -> Path:
    """Compile `cpp`, which are `.cpp` files and the headers that they include, and link them with `models`.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    compiler = cxx_compiler()
    files = read_sources(cpp)
    traced = any(model.trace for model in models)
    names = ("verilated", "verilated_threads", *(["verilated_vcd_c"] if traced else []))
    runtime = [runtime_object(name, traced) for name in names]
    folders = [str(model.folder) for model in models]
    options = runtime_options(traced, optimization)
    key = content_key(files_key(files), optimization, _SYMBOLS, *map(str, runtime), *folders)
    folder = (build_dir / f"{name}-{key}").resolve()
    library = folder / f"lib{name}.so"

    def build() -> None:
        compiled = [path for path in write_sources(files, folder / "src") if path.suffix == ".cpp"]
        archives = [model.folder / f"lib{model.prefix}.a" for model in models]
        symbols = folder / "symbols"
        symbols.write_text(_SYMBOLS)
        linked = ["-shared", "-Wl,-Bsymbolic", f"-Wl,--version-script={symbols}", "-o", library]
        linked += [*compiled, *archives, *runtime, "-latomic"]
        includes = [f"-I{path}" for path in folders]
        with progress(f"linking {name}"):
            first = precompiled_header(options, Path()).split()
            run_verilator([compiler, *options, *first, *includes, *linked], folder / "build.log", name)

    build_once(folder, build)
    return library


def _python_files(package: ModuleType) -> list[Path]:
    return sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.py"))
