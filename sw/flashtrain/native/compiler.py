"""The C and C++ compilers of this machine, and how tools are run and waited for."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from flashtrain.spec.errors import ToolError


def cxx_compiler() -> str:
    """Path of a C++ compiler: `$CXX`, or the first on PATH. Raises `ToolError` if there is none.

    Clang takes a third of the time of g++ for verilated code.
    """
    return _compiler("C++", "CXX", "clang++", "g++", "c++")


def c_compiler() -> str:
    """Path of a C compiler: `$CC`, or the first on PATH. Raises `ToolError` if there is none."""
    return _compiler("C", "CC", "clang", "gcc", "cc")


def _compiler(language: str, variable: str, *names: str) -> str:
    named = os.environ.get(variable)
    for name in [named] if named else names:
        if path := shutil.which(name):
            return path
    if named:
        raise ToolError(
            f"{variable} is {named!r}, which is no program: expected a compiler by name or path, without"
            " options and without ccache, which is used where it is installed"
        )
    package = names[1]
    raise ToolError(f"no {language} compiler is installed: 'apt-get install {package}' brings one")


@cache
def compiler_version(compiler: str) -> str:
    """Its name with its version, and the machine that it compiles for."""
    said = [
        subprocess.run([compiler, option], text=True, capture_output=True).stdout
        for option in ("--version", "-dumpmachine")
    ]
    return "".join(said)


def run(
    command: Sequence[object],
    log: Path,
    name: str,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> None:
    """Run a compiler, in `folder` if there is one. Raises `ToolError` with the end of the log if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,  # not the log: on a full disk it would not say so
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        close_fds=False,  # with the locks of this process, for `EntryLocks.alone`
    )
    if done.returncode:
        # The log is a convenience, and a full disk is the caller's to report.
        with suppress(OSError):
            log.write_text(done.stdout, encoding="utf-8")
        raise ToolError(f"{name} does not compile ({log}):\n{done.stdout[-4000:]}")
    log.write_text(done.stdout, encoding="utf-8")


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Say on stderr what takes long, and how long it took; in whole lines, for others may build meanwhile."""
    print(f"flashtrain: {what} ...", file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        yield
    finally:
        print(f"flashtrain: {what}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
