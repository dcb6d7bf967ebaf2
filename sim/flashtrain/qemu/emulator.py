"""The emulator: QEMU and its firmware, in the cache of the user."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from flashtrain.native.build_cache import content_key
from flashtrain.native.user_cache import user_cache
from flashtrain.spec.errors import ToolError

from .debian import Unpacked, download, missing, unpack

PROGRAM = "qemu-system-x86_64"
_PACKAGES = ("qemu-system-x86", "seabios", "ipxe-qemu")


def fetch_emulator(say: Callable[[str], None]) -> Unpacked:
    """QEMU, downloaded once by one process; :class:`ToolError` if it cannot be had."""
    packages = missing(_PACKAGES)
    key = content_key(*(f"{package.name} {package.version}" for package in packages))

    def build(folder: Path) -> None:
        say(f"{len(packages)} packages of Debian, into {folder}")
        archives = folder / "archives"
        download(packages, archives)
        unpack(archives, folder / "root")
        shutil.rmtree(archives)

    return Unpacked(user_cache().build("debian", "qemu", key, "QEMU of Debian's packages", build) / "root")


def version(emulator: Unpacked, program: Path | None = None) -> str:
    """The version of the emulator, or of another program of QEMU, such as 7.2.22."""
    program = program or emulator.program(PROGRAM)
    said = _run(emulator, program, "--version")
    found = re.search(r"version (\S+)", said.stdout)
    if found is None:
        raise ToolError(f"{program} --version: {' '.join((said.stderr or said.stdout).split())}")
    return found[1]


def check_device(emulator: Unpacked, device: str, program: Path | None = None) -> None:
    """:class:`ToolError` if the emulator, or another program of QEMU, has not this device."""
    program = program or emulator.program(PROGRAM)
    if _run(emulator, program, "-device", f"{device},help").returncode:
        raise ToolError(f"QEMU {version(emulator, program)} has no device {device}")


def _run(emulator: Unpacked, program: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(program), *options], text=True, capture_output=True,
        env={**os.environ, "LD_LIBRARY_PATH": emulator.library_path},
    )  # fmt: skip
