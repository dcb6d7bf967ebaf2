"""Runs cocotb benches on Icarus and Verilator: the one wrapper around cocotb's Python runner.

The convention: `test_x.py` holds what pytest runs, and `x_bench.py` beside it holds the cocotb tests that run
inside the simulator. A simulator takes about a second to start, so one bench holds many tests.

    # tests/write/test_packer.py
    def test_packer(simulator, seed):
        run_bench(
            Packer(width=16), "packer", Path(__file__).with_name("packer_bench.py"),
            simulator=simulator, seed=seed, parameters={"width": 16},
        )

    # tests/write/packer_bench.py
    WIDTH = bench_parameters()["width"]

    @cocotb.test()
    async def keeps_order(dut): ...

The fixtures `simulator` and `seed` are in tests/conftest.py. cocotb seeds `random` from the seed for each
test; seed NumPy from it too: `numpy.random.default_rng(cocotb.RANDOM_SEED)`. `pytest --seed N` replays a run.
tests/sim/bench/test_runner.py and queue_bench.py are an example to copy.

The bench sees the ports of the top; on Verilator it sees nothing else (in a top given as SystemVerilog, also
the other signals of that module). Everything visible costs half of the speed or more.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

from amaranth.lib import wiring
from cocotb_tools import config as cocotb_config
from cocotb_tools import runner as cocotb_runner

from flashtrain.native.build_cache import BUILD, content_key, files_key, read_sources, write_sources
from flashtrain.native.compiler import compiler_version, cxx_compiler
from flashtrain.native.user_cache import user_cache
from flashtrain.rtl.export.icarus import portable_processes
from flashtrain.rtl.export.systemverilog import UNAVOIDABLE_WARNINGS, export_design
from flashtrain.rtl.export.tools import (
    VERILATOR_MAKE_OPTIONS,
    including,
    tool_versions,
    verilator_binary,
    verilator_environment,
    verilator_root,
)
from flashtrain.sim.bench.parameters import VARIABLE
from flashtrain.sim.verilator.cxx import (
    CXX_OPTIONS,
    WaveFormat,
    own_object,
    precompiled_header,
    runtime_object,
    runtime_options,
)
from flashtrain.spec.errors import FlashtrainError, ToolError

_OPTIMIZATION = "-Og"
"""A bench runs for seconds: more optimisation takes longer than it saves."""


_RUNTIME = ("verilated", "verilated_dpi", "verilated_vpi", "verilated_threads")
"""What a makefile of a bench would compile for each anew."""


_ENTRIES = (
    "cocotb_tools._coverage:start_cocotb_library_coverage",
    "flashtrain.sim.bench.shortcuts:take",
    "cocotb.logging:_configure",
    "cocotb._init:init_package_from_simulation",
    "cocotb.regression:_run_regression",
)
"""What cocotb calls at its start: what it would call by itself, and `take`."""

_SHORTENED = "2.1.0"
"""The version of cocotb whose ways `shortcuts` shortens."""


class Simulator(Enum):
    """A simulator that benches run on. Icarus has X and is slow; Verilator is fast and has two states."""

    ICARUS = "icarus"
    VERILATOR = "verilator"

    @property
    def available(self) -> bool:
        """Whether it is installed: Verilator comes with the package, Icarus with the operating system."""
        return self is Simulator.VERILATOR or which("iverilog") is not None


class BenchFailed(FlashtrainError, AssertionError):
    """A test of the bench failed, or the simulator stopped before all of them had run."""


class BenchEmpty(FlashtrainError, ValueError):
    """No test of the bench was run."""


@dataclass(frozen=True)
class BenchReport:
    """The tests that a passed bench has run, and the folder with its logs, results and waves."""

    tests: tuple[str, ...]
    seed: int
    folder: Path


def run_bench(
    top: wiring.Component | Sequence[Path],
    toplevel: str,
    bench: Path,
    *,
    simulator: Simulator,
    seed: int,
    parameters: Mapping[str, object] | None = None,
    test_filter: str | None = None,
    waves: bool = False,
    delays: bool = False,
    runs: Path = BUILD / "sim",
) -> BenchReport:
    """Build a design, unless the user's cache has it, and run a bench on it.

    Parameters
    ----------
    top
        A component, or SystemVerilog files (Verilator also takes `.cpp` files with DPI functions, and their
        headers; they include none of Verilator's, and are compiled once for all benches).
    toplevel
        Name of the top module.
    bench
        The Python file with the cocotb tests.
    seed
        Seeds cocotb's random numbers.
    parameters
        Parameters of the bench, of types that JSON can represent; it reads them with `bench_parameters()`.
    test_filter
        Run only tests whose name matches this regular expression.
    waves
        Record all signals: a VCD file on Verilator, FST on Icarus, in the report's folder.
    delays
        The SystemVerilog files have delays and event controls, which Verilator compiles to coroutines.
    runs
        The folder in which each run has one of its own.

    Raises `BenchFailed`, `BenchEmpty`, and `ToolError` when the design does not compile.
    """
    if isinstance(top, wiring.Component):
        design = export_design(top, toplevel)
        files, visible = design.files, [port.name for port in design.modules[0].ports]
    else:
        files, visible = read_sources(top), ["*"]
    if simulator is Simulator.ICARUS:
        files = {name: portable_processes(text) for name, text in files.items()}
    if simulator is Simulator.VERILATOR:
        runner = _Verilator(bench.parent, visible, delays)
    else:
        runner = _Icarus(bench.parent)
    if simulator is Simulator.VERILATOR:
        for place in (cocotb_config.libs_dir, verilator_root(), user_cache().folder):
            _require_plain(place)
    built = _built(runner, files, toplevel, simulator, waves)
    variant = content_key(json.dumps(dict(parameters or {})), str(test_filter))[:8]
    run = (runs / built.name / f"{bench.stem}-{seed}-{variant}").resolve()
    shutil.rmtree(run, ignore_errors=True)  # what an earlier run with this seed has left
    print(f"{bench.stem} on {simulator.value}, seed {seed} (pytest --seed {seed} replays it), in {run}")
    results = run / "results.xml"
    stopped = None
    try:
        runner.test(
            test_module=bench.stem,
            hdl_toplevel=toplevel,
            hdl_toplevel_lang="verilog",
            build_dir=built,
            test_dir=run,
            results_xml=str(results),
            seed=seed,
            test_filter=test_filter,
            extra_env={
                VARIABLE: json.dumps(dict(parameters or {})),
                # By default cocotb rewrites every module that a bench imports, for half a second.
                "COCOTB_REWRITE_ASSERTION_FILES": shlex.quote(str(bench.resolve().parent / "*")),
                # And it would load all plugins of pytest, which it needs for its assertions alone.
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                **shortcuts_of(version("cocotb")),
            },
            waves=waves,
            plusargs=[f"+dumpfile_path={run / 'dump.fst'}"],  # of Icarus; Verilator writes where it runs
        )
    except (RuntimeError, SystemExit) as error:
        stopped = error
    return BenchReport(_passed_tests(results, bench.stem, seed, stopped), seed, run)


def _built(
    runner: "_Icarus | _Verilator", files: Mapping[str, str], toplevel: str, simulator: Simulator, waves: bool
) -> Path:
    """The entry of the user's cache with the compiled design; what only its compilation needs is removed."""

    def build(folder: Path) -> None:
        sources = write_sources(files, folder / "src")
        headers = [path for path in sources if path.suffix == ".h"]
        objects = [own_object(path, headers, _OPTIMIZATION) for path in sources if path.suffix == ".cpp"]
        log = folder / "build.log"
        try:
            runner.build(
                sources=[path for path in sources if path.suffix not in (".cpp", ".h")],
                build_args=[str(path) for path in objects],
                hdl_toplevel=toplevel,
                build_dir=folder,
                timescale=("1ns", "1ps"),
                waves=waves,
                log_file=log,
            )
        except (RuntimeError, SystemExit) as error:
            raise ToolError(
                f"{toplevel} does not compile ({log}):\n{log.read_text(encoding='utf-8')[-4000:]}"
            ) from error
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != runner.compiled_name(toplevel):
                path.unlink()

    versions = {**tool_versions(), "cocotb": version("cocotb")}
    key = content_key(files_key(files), json.dumps(versions), runner.simulator_version(), str(waves))
    return user_cache().build("bench", f"{toplevel}-{simulator.value}", key, f"bench of {toplevel}", build)


def shortcuts_of(cocotb_version: str) -> dict[str, str]:
    """The environment in which that cocotb takes shorter ways; another than the known one goes its own."""
    return {"PYGPI_USERS": ",".join(_ENTRIES)} if cocotb_version == _SHORTENED else {}


def _passed_tests(results: Path, bench: str, seed: int, stopped: BaseException | None) -> tuple[str, ...]:
    """Names of the tests in a results file; raises unless there are some, and all have passed."""
    where = f"{bench}, seed {seed}"
    if not results.is_file():
        raise BenchFailed(f"{where}: the simulator stopped without results ({stopped})")
    passed, failed = [], []
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(case.get("name", "?"))
        elif case.find("skipped") is None:
            passed.append(case.get("name", "?"))
    if failed:
        raise BenchFailed(
            f"{where}: {len(failed)} of {len(failed) + len(passed)} failed: {', '.join(failed)}"
        )
    if stopped is not None:
        raise BenchFailed(f"{where}: all tests passed, but the simulator failed ({stopped})")
    if not passed:
        raise BenchEmpty(f"{where}: no test was run")
    return tuple(passed)


class _Icarus(cocotb_runner.Icarus):
    def __init__(self, bench_folder: Path) -> None:
        super().__init__()
        self._bench_folder = bench_folder

    def compiled_name(self, toplevel: str) -> str:
        return self.sim_file.name

    def simulator_version(self) -> str:
        return subprocess.run(["iverilog", "-V"], text=True, capture_output=True).stdout.partition("\n")[0]

    def _set_env_test(self) -> None:
        super()._set_env_test()
        _let_import_from(self._bench_folder, self.env)


class _Verilator(cocotb_runner.Verilator):
    """cocotb's runner makes every signal of the design public; this one only the top's that are named."""

    def __init__(self, bench_folder: Path, visible: Sequence[str], delays: bool) -> None:
        super().__init__()
        self._bench_folder = bench_folder
        self._visible = visible
        self._delays = delays

    def compiled_name(self, toplevel: str) -> str:
        return toplevel

    def simulator_version(self) -> str:
        return " ".join((compiler_version(cxx_compiler()), _OPTIMIZATION, *VERILATOR_MAKE_OPTIONS))

    def _simulator_in_path_build_only(self) -> None:
        self.executable = str(verilator_binary())

    def _set_env_build(self) -> None:
        super()._set_env_build()
        self.env |= verilator_environment()

    def _set_env_test(self) -> None:
        super()._set_env_test()
        _let_import_from(self._bench_folder, self.env)
        _begin_with(cocotb_config.libs_dir, "LD_LIBRARY_PATH", self.env)

    def _build_command(self) -> list[list[str]]:
        public = self.build_dir / "public.vlt"
        rules = [f'public_flat_rw -module "{self.hdl_toplevel}" -var "{name}"' for name in self._visible]
        public.write_text("\n".join(["`verilator_config", *rules, ""]), encoding="utf-8")
        verilate, make = super()._build_command()
        verilate.remove("--public-flat-rw")
        # The cache is that of all virtual environments: each has its own libraries of cocotb.
        libraries = verilate.index("-LDFLAGS") + 1
        verilate[libraries] = f"-L{cocotb_config.libs_dir} -lcocotbvpi_verilator"
        # cocotb's main program beside the model, since headers take longer to read than it does to compile.
        # A copy, whose name is the same in every clone, for ccache.
        main = cocotb_config.share_dir / "lib" / "verilator" / "verilator.cpp"
        verilate.remove(str(main))
        copy = shutil.copy(main, self.build_dir / "cocotb_main.cpp")
        waived = [f"-Wno-{kind}" for kind in UNAVOIDABLE_WARNINGS]
        verilate += ["-Wno-fatal", *waived, "-CFLAGS", " ".join(CXX_OPTIONS)]
        make += [*VERILATOR_MAKE_OPTIONS, f"OPT_FAST={_OPTIMIZATION}", f"OPT_SLOW={_OPTIMIZATION}"]
        make += [f"CXX={cxx_compiler()}", f"LINK={cxx_compiler()}", including(copy.name)]
        waves = WaveFormat.VCD if self.waves else None
        names = [*_RUNTIME, *([waves.runtime] if waves else [])]
        options = runtime_options(waves, _OPTIMIZATION)
        verilate += ["-CFLAGS", f"-include {precompiled_header(options)}"]
        parts = [runtime_object(name, waves) for name in names]
        make += ["VM_GLOBAL_FAST=", f"USER_LDLIBS={' '.join(map(str, parts))} -latomic"]
        if self._delays:
            verilate += ["--timing", "-CFLAGS", "-std=gnu++20"]  # coroutines
            make.append("VM_GLOBAL_FAST=verilated_timing")
        return [[*verilate, str(public)], make]


def _require_plain(folder: Path) -> None:
    """Raise `ToolError` for a name that makefiles split or expand; cocotb has absolute names in them."""
    odd = sorted(set(re.findall(r"[^\w/.,+@=~-]", str(folder))))
    if odd:
        raise ToolError(
            f"a bench on Verilator takes no folder whose name has {' '.join(map(repr, odd))}, as make splits"
            f" it: {folder}; use another folder, or Icarus"
        )


def _let_import_from(folder: Path, environment: dict[str, str]) -> None:
    _begin_with(folder, "PYTHONPATH", environment)


def _begin_with(folder: Path, variable: str, environment: dict[str, str]) -> None:
    """Put a folder in front of the others of a variable."""
    others = environment.get(variable)
    environment[variable] = f"{folder}{os.pathsep}{others}" if others else str(folder)
