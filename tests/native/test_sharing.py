"""Processes, copies of the tree and virtual environments that share a cache."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flashtrain.native.compiler import cxx_compiler
from flashtrain.native.user_cache import UserCache
from flashtrain.rtl.export.tools import verilator_root

ROOT = Path(__file__).parents[2]
PORTIONS = ("hw", "sim", "sw")

BUILD = """
import sys
from pathlib import Path
from flashtrain.native.library import native_library
from flashtrain.native.user_cache import UserCache
print(native_library("small", [Path(sys.argv[1])], {}, UserCache(Path(sys.argv[2]))).answer())
"""

KEYS = """
import sys
from pathlib import Path
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from flashtrain.native.user_cache import UserCache
from flashtrain.sim.link.library import simulator_key
from flashtrain.sim.verilator.verilated import build_shared_library, exported_sources, verilate
from flashtrain.spec import preset

class Counter(wiring.Component):
    count: Out(8)
    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.count.eq(self.count + 1)
        return m

cache = UserCache(Path(sys.argv[1]))
model = verilate(exported_sources(Counter, "counter", "", cache), "counter", "Vtop", cache)
library = build_shared_library([model], [Path("harness.cpp")], "counter", cache)
print(simulator_key(preset("tiny")), library)
"""


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "small.cpp"
    path.write_text('extern "C" int answer() { return 42; }\n', encoding="utf-8")
    return path


def compiler(folder: Path, before: str) -> dict[str, str]:
    """An environment whose compiler does that first, whenever it makes a library."""
    script = folder / "bin" / "clang++"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *-shared*) {before};; esac\nexec {shutil.which(cxx_compiler())} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}


def start(source: Path, environment: dict[str, str]) -> subprocess.Popen:
    command = [sys.executable, "-c", BUILD, source, source.parent / "cache"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.01)


def test_eight_processes_compile_once(source):
    compiled = source.parent / "compiled"
    environment = compiler(source.parent, f"echo once >> {compiled}; sleep 1")
    processes = [start(source, environment) for _ in range(8)]
    outputs = [process.communicate() for process in processes]
    assert [output for output, _ in outputs] == ["42\n"] * 8, outputs
    assert compiled.read_text(encoding="utf-8") == "once\n"


def test_a_killed_process_leaves_its_entry_to_the_next(source):
    """Which waits for the compiler that the first has started: that still writes to the entry."""
    compiled, goes_on = source.parent / "compiled", source.parent / "goes_on"
    environment = compiler(
        source.parent, f"echo begun >> {compiled}; until [ -e {goes_on} ]; do sleep 0.05; done"
    )
    first = start(source, environment)
    wait_for(compiled)
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = start(source, environment)
    assert second.stderr is not None and second.stdout is not None
    assert second.stderr.readline() == "flashtrain: another process builds library small: waiting\n"
    time.sleep(0.2)
    assert compiled.read_text(encoding="utf-8") == "begun\n", "it waits"
    goes_on.touch()
    assert second.communicate()[0] == "42\n"
    assert compiled.read_text(encoding="utf-8") == "begun\n" * 2


def test_an_entry_in_use_stays(source):
    cache = UserCache(source.parent / "cache")
    held = "import time; time.sleep(60)"
    command = [sys.executable, "-c", BUILD + "print(flush=True)\n" + held, source, cache.folder]
    user = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert user.stdout is not None and user.stdout.readline() == "42\n"
        user.stdout.readline()
        removed, kept = cache.clean()
        assert (len(removed), len(kept)) == (0, 1)
        cache.limit = 1
        assert cache.trim() == []
    finally:
        user.kill()
        user.wait()
    assert len(cache.trim()) == 1 and cache.entries() == []


def test_another_tree_and_another_environment_compile_nothing(tmp_path):
    """Two copies of the tree in other folders, the second one with a Python of its own.

    A changed source is another key. Of the first one all names, also Verilator's and that of the cache, have
    what shells and makefiles split or expand.
    """
    odd = "Größe 1 & 'x' $y #z (%)"
    outputs = []
    site = next(path for path in sys.path if path.endswith("site-packages"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "deeper" / "venv"], check=True)
    pythons = {f"{odd}/one": sys.executable, "deeper/two": tmp_path / "deeper" / "venv" / "bin" / "python"}
    for name, python in pythons.items():
        tree = tmp_path / name
        for portion in PORTIONS:
            shutil.copytree(ROOT / portion, tree / portion, ignore=shutil.ignore_patterns("__pycache__"))
        (tree / "harness.cpp").write_text(
            '#include "Vtop.h"\nextern "C" int size() { return sizeof(Vtop); }\n', encoding="utf-8"
        )
        (tree / "site").mkdir()
        (tree / "site" / "verilator").symlink_to(verilator_root())
        folders = [*(str(tree / portion) for portion in (*PORTIONS, "site")), site]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        # -S: without the tree that is installed.
        command = [python, "-S", "-c", KEYS, tmp_path / odd / "cache"]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append((done.stdout, done.stderr))
    assert outputs[0][0] == outputs[1][0]
    assert "elaborating counter" in outputs[0][1] and "compiling counter" in outputs[0][1]
    assert outputs[1][1] == ""
    with (tree / "sim/flashtrain/sim/link/device/device.cpp").open("a", encoding="utf-8") as source:
        source.write("// changed\n")
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    (key, library), (other_key, other_library) = (
        text.strip().split(" ", 1) for text in (outputs[0][0], done.stdout)
    )
    assert other_key != key and other_library == library, "the counter is made of other sources"
