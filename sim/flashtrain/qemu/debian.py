"""Debian's packages: downloaded by `apt-get`, and unpacked without being installed."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flashtrain.spec.errors import ToolError

_PARTS = ("usr/bin", "usr/sbin", "bin", "sbin")
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/ceph")


class Package(NamedTuple):
    """A package and its version."""

    name: str
    version: str


class Unpacked:
    """Packages unpacked in `root`, beside what this machine has installed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def program(self, name: str) -> Path:
        """The path of a program of the packages, or else of this machine."""
        for part in _PARTS:
            path = self.root / part / name
            if path.is_file():
                return path
        found = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
        if found is None:
            raise ToolError(f"program {name} is neither in {self.root} nor on this machine")
        return Path(found)

    @property
    def library_path(self) -> str:
        return ":".join(str(self.root / part) for part in _LIBRARIES)

    def libraries(self, program: Path) -> list[tuple[Path, Path]]:
        """The shared libraries of a program and its loader: where each is, and where it belongs."""
        said = subprocess.run(
            ["ldd", str(program)], text=True, capture_output=True, env={"LD_LIBRARY_PATH": self.library_path}
        ).stdout
        if "not found" in said:
            raise ToolError(f"{program}: {' '.join(said.split())}")
        found = []
        for path in re.findall(r"(/\S+) \(0x", said):
            inside = Path(path)
            if inside.is_relative_to(self.root):
                inside = Path("/") / inside.relative_to(self.root)
            found.append((Path(path).resolve(), inside))
        return found


def missing(names: Sequence[str]) -> list[Package]:
    """The packages that are not installed, those that they need included.

    :class:`ToolError` on a system that is not Debian's, or one whose lists have none of that name.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise ToolError("the packages are Debian's, and this system has no apt-get or dpkg-deb")
    said = _run(["apt-get", "install", "-s", "--no-install-recommends", *names], Path("/"))
    return [Package(*found) for found in re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", said, re.MULTILINE)]


def download(packages: Sequence[Package], folder: Path) -> None:
    """Download the archives of packages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if packages:
        names = [f"{package.name}={package.version}" for package in packages]
        _run(["apt-get", "-o", "APT::Sandbox::User=root", "download", *names], folder)


def unpack(archives: Path, root: Path) -> None:
    """Unpack all archives of a folder into `root`."""
    root.mkdir(parents=True, exist_ok=True)
    for archive in sorted(archives.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(archive), str(root)], archives)


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise ToolError(f"{command[0]} {command[1]}: {' '.join(last)}")
    return done.stdout
