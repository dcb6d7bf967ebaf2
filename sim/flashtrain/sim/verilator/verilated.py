"""Compiles SystemVerilog and C++ into one shared library, to be called in-process through ctypes.

This is the fast way to simulate: no VPI, no public signals, Python called only when the C++ returns.

    sources = exported_sources(lambda: Controller(config), "flashtrain", repr(config))
    model = verilate(sources, "flashtrain", "Vtop")
    library = ctypes.CDLL(str(build_shared_library([model], [Path("harness.cpp")], "flashtrain")))

The harness includes the header of each model's class (here `Vtop.h`) and exports `extern "C"` functions. A
library may hold several models, each of which the harness instantiates as often as it likes. Each step is an
entry of the user's cache, so that a second start takes a fraction of a second.
"""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amaranth.lib import wiring

import flashtrain.rtl as rtl
import flashtrain.sim as sim
import flashtrain.spec as spec
from flashtrain.native.build_cache import content_key, files_key, read_sources, write_sources
from flashtrain.native.compiler import compiler_version, cxx_compiler, progress
from flashtrain.native.user_cache import UserCache, about, user_cache
from flashtrain.rtl.export.systemverilog import UNAVOIDABLE_WARNINGS, export_design
from flashtrain.rtl.export.tools import (
    VERILATOR_MAKE_OPTIONS,
    including,
    tool_versions,
    verilator_binary,
    verilator_root,
)
from flashtrain.sim.verilator.cxx import (
    COROUTINES,
    CXX_OPTIONS,
    HEADER_KEY,
    WaveFormat,
    precompiled_header,
    run_verilator,
    runtime_object,
    runtime_options,
)

SECONDS_BETWEEN_LINES = 10.0
"""On stderr, of how far a build is."""

SECONDS_OF_A_MODEL = (1, 5)
"""The range for a processor, as long as no model in the cache has been measured."""

_WIDEST_WAVE = 4096
"""Bits of the widest signal that waves show."""

MODELS = "model"
"""Of entries of the cache."""

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
    waves: WaveFormat | None


def exported_sources(
    make_top: Callable[[], wiring.Component],
    name: str,
    configuration: str,
    cache: UserCache | None = None,
    domains: tuple[str, ...] = ("sync",),
) -> list[Path]:
    """Export the component that `make_top` builds, unless that was done before; returns the files."""

    def write(folder: Path) -> None:
        export_design(make_top(), name, domains).write(folder)

    return sorted(exported(write, name, configuration, cache).glob("*.sv"))


def exported(
    write: Callable[[Path], None],
    name: str,
    configuration: str,
    cache: UserCache | None = None,
    what: str = "",
) -> Path:
    """The folder that `write` has filled with what it elaborates; called once per content.

    Elaboration of a large design takes longer than anything else in a warm start. The code of the contract,
    of the RTL and of the simulation is part of the key. `configuration` must name all else that `write`
    depends on. cache: another one than the user's. what: is exported, in words.
    """

    def export(folder: Path) -> None:
        with progress(f"elaborating {name}"):
            write(folder)

    key = content_key(json.dumps(tool_versions()), configuration, code_key(".py"))
    return (cache or user_cache()).build("rtl", name, key, f"SystemVerilog of {what or name}", export)


@cache
def code_key(*suffixes: str) -> str:
    """A name for the content of the files of `flashtrain.spec`, `flashtrain.rtl` and `flashtrain.sim` that
    have these suffixes."""
    parts: list[str | bytes] = []
    for package in (spec, rtl, sim):
        for root in map(Path, package.__path__):
            for path in sorted(path for path in root.rglob("*") if path.suffix in suffixes):
                parts += [f"{package.__name__}/{path.relative_to(root)}", path.read_bytes()]
    return content_key(*parts)


@dataclass(frozen=True)
class ModelSource:
    """The sources of a model: files with top module `top`; its class is to be called `prefix`.

    optimization: the compiler's, of the code that runs in each cycle. delays: the files have delays and event
    controls, which become coroutines; the harness then follows `nextTimeSlot`, and `timing_object` is linked.
    """

    files: Sequence[Path]
    top: str
    prefix: str
    waves: WaveFormat | None = None
    optimization: str = "-O3"
    delays: bool = False


def verilate(
    sources: Sequence[Path], top: str, prefix: str, cache: UserCache | None = None,
    waves: WaveFormat | None = None,
) -> Model:  # fmt: skip
    """Compile `sources` with top module `top` into class `prefix`.

    With `waves` the model can write these (`VerilatedVcdC`), at a cost in speed even when it does not.
    cache: another one than the user's.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    return verilate_all([ModelSource(sources, top, prefix, waves)], top, cache)[0]


def verilate_all(sources: Sequence[ModelSource], name: str, cache: UserCache | None = None) -> list[Model]:
    """Compile each of the sources, as many at a time as there are processors; `name` is said on stderr."""
    cache = cache or user_cache()
    compiler = cxx_compiler()
    builds = [_ModelBuild(source, compiler, cache) for source in sources]
    missing = [build for build in builds if not build.is_done()]
    if missing:
        count = "" if len(missing) == 1 else f", {len(missing)} models,"
        expected = _expected(missing, cache)
        with progress(
            f"compiling {name}{count} with Verilator and {Path(compiler).name} (done once, {expected})"
        ):
            said = time.monotonic()
            for source in {(build.source.waves, build.source.optimization) for build in missing}:
                precompiled_header(runtime_options(*source))
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                for number, _ in enumerate(pool.map(_ModelBuild.run, missing), 1):
                    if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
                        said = time.monotonic()
                        text = f"flashtrain: {number} of {len(missing)} models compiled"
                        print(text, file=sys.stderr, flush=True)
    return [build.run() for build in builds]


def _expected(builds: Sequence["_ModelBuild"], cache: UserCache) -> str:
    """How long these builds take: as those of models in the cache, or as a range."""
    at_a_time = min(os.cpu_count() or 1, len(builds))
    seconds = cache.seconds_of(MODELS, sum(build.work for build in builds))
    if seconds is not None:
        return about(seconds / at_a_time)
    least, most = (count * len(builds) / at_a_time for count in SECONDS_OF_A_MODEL)
    return f"{least:.0f} to {most:.0f} s"


class _ModelBuild:
    """How one model is compiled, into an entry with a key of all that it depends on."""

    def __init__(self, source: ModelSource, compiler: str, cache: UserCache) -> None:
        self.source = source
        self._cache = cache
        self._files = read_sources(source.files)
        self.work = sum(map(len, self._files.values()))
        self._options = [*_VERILATOR_OPTIONS, "--prefix", source.prefix]
        if source.delays:
            self._options += ["--timing", "--timescale", "1ns/1ps", "-CFLAGS", COROUTINES]
        if source.waves:
            self._options += [f"--trace-{source.waves.value}", "--trace-max-width", str(_WIDEST_WAVE)]
        levels = [f"OPT_FAST={source.optimization}", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2"]
        self._make_options = [*VERILATOR_MAKE_OPTIONS, *levels, f"CXX={compiler}", f"LINK={compiler}"]
        # Which Python runs Verilator's scripts makes no difference, nor where the compiler is.
        paths = ("PYTHON3=", "CURDIR=", "CXX=", "LINK=")
        flags = [option for option in self._make_options if not option.startswith(paths)]
        tools = (json.dumps(tool_versions()), compiler_version(compiler))
        self._key = content_key(files_key(self._files), *tools, *self._options, *flags, HEADER_KEY)

    def is_done(self) -> bool:
        return self._cache.hold(f"{MODELS}/{self.source.top}-{self._key}")

    def run(self) -> Model:
        """The model; compiled unless that was done before."""
        source = self.source
        what = f"model of {source.top}"
        folder = self._cache.build(MODELS, source.top, self._key, what, self._build, self.work)
        return Model(source.prefix, folder / "obj", source.waves)

    def _build(self, folder: Path) -> None:
        source, objects = self.source, folder / "obj"
        header = precompiled_header(runtime_options(source.waves, source.optimization))
        # All paths in the makefile are relative: `make` takes no spaces in them.
        command = [verilator_binary(), *self._options, "--Mdir", objects.name, "--top-module", source.top]
        # The same words wherever the cache is, for ccache.
        command += ["-CFLAGS", f"-include {os.path.relpath(header, objects)}"]
        # The model alone: Verilator's own library is compiled once for all.
        root = folder / "verilator"
        targets = [f"VERILATOR_ROOT=../{root.name}", f"lib{source.prefix}.a", shlex.quote(including())]
        command += [word for option in (*self._make_options, *targets) for word in ("-MAKEFLAGS", option)]
        sources = (path.relative_to(folder) for path in write_sources(self._files, folder / "src"))
        root.symlink_to(verilator_root())
        run_verilator([*command, *sources], folder / "build.log", source.top, folder)
        root.unlink()  # no part of the entry, and another environment's


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
    cache: UserCache | None = None,
    optimization: str = "-O3",
    generated: Mapping[str, str] | None = None,
    objects: Sequence[Path] = (),
) -> Path:
    """Compile `cpp`, which are `.cpp` files and the headers that they include, and link them with `models`.

    generated: more of these files, as texts by name. objects: what is linked beside them, from the cache.
    cache: another one than the user's.

    Raises `ToolError` with the end of the log when something does not compile.
    """
    cache = cache or user_cache()
    compiler = cxx_compiler()
    files = {**read_sources(cpp), **(generated or {})}
    waves = next((model.waves for model in models if model.waves), None)
    names = ("verilated", "verilated_threads", *([waves.runtime] if waves else []))
    runtime = [runtime_object(name, waves) for name in names]
    options = runtime_options(waves, optimization)
    # An entry is named after its content.
    inputs = [path.parent.name for path in (*runtime, *objects, *(model.folder for model in models))]
    key = content_key(files_key(files), optimization, _SYMBOLS, HEADER_KEY, *inputs)
    file = f"lib{name}.so"

    def build(folder: Path) -> None:
        compiled = [path for path in write_sources(files, folder / "src") if path.suffix == ".cpp"]
        archives = [model.folder / f"lib{model.prefix}.a" for model in models]
        symbols = folder / "symbols"
        symbols.write_text(_SYMBOLS, encoding="utf-8")
        linked = ["-shared", "-Wl,-Bsymbolic", "-Xlinker", f"--version-script={symbols}"]
        linked += ["-o", folder / file]
        linked += [*compiled, *objects, *archives, *runtime, "-latomic"]
        linked += waves.libraries if waves else ()
        includes = [f"-I{model.folder}" for model in models]
        with progress(f"linking {name}"):
            first = ["-include", precompiled_header(options)]
            run_verilator([compiler, *options, *first, *includes, *linked], folder / "build.log", name)

    library = cache.build("lib", name, key, f"library {name}", build) / file
    cache.settle()
    return library
