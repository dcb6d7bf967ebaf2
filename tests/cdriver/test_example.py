"""The example in C: it compiles as firmware does, and runs on the functional Link and on the RTL."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from flashtrain.cdriver import write_driver
from flashtrain.host import FunctionalLink
from flashtrain.native.compiler import c_compiler
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import SINGLE_NODE

from .driver import CDriver, Error
from .library import OPTIONS

EXAMPLE = Path(__file__).parents[2] / "examples" / "c"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The function `demo` of a shared library with driver and example."""
    folder = tmp_path_factory.mktemp("example")
    write_driver(folder)
    shutil.copy(EXAMPLE / "demo.c", folder)
    library = folder / "demo.so"
    command = [c_compiler(), *OPTIONS, "-O1", "-fPIC", "-shared", *sorted(folder.glob("*.c")), "-o", library]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library)).demo


@pytest.mark.parametrize("make", [FunctionalLink, RtlLink], ids=["functional", "rtl"])
def test_starts_of_the_firmware(demo, make):
    with make(preset("tiny"), 1 << 18) as link:
        hooks = CDriver(link, SINGLE_NODE)
        counts = []
        for start in range(8):
            stored = ctypes.c_uint32()
            error = Error(demo(ctypes.byref(hooks.platform), start == 0, ctypes.byref(stored)))
            assert error is Error.OK, error.name
            counts.append(stored.value)
            link.power_cycle()
        assert counts == [1, 2, 3, 4, 5, 6, 1, 2]


def test_the_board_compiles(tmp_path):
    write_driver(tmp_path)
    command = [c_compiler(), *OPTIONS, "-c", "-I", tmp_path, EXAMPLE / "board.c", "-o", tmp_path / "board.o"]
    subprocess.run(command, check=True)
