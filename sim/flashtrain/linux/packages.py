"""Debian's packages for the machine: downloaded by `apt-get`, and unpacked without being installed."""

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from flashtrain.spec.errors import ToolError

PACKAGES = (
    "qemu-system-x86", "seabios", "ipxe-qemu", "linux-image-amd64", "busybox-static", "nvme-cli", "fio",
    "util-linux", "btrfs-progs",
)  # fmt: skip
_PARTS = ("usr/bin", "usr/sbin", "bin", "sbin")
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/ceph")


class Packages:
    """Unpacked packages in `folder`, beside what this machine has installed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self._archives = folder / "archives"
        self._done = folder / "complete"

    def fetch(self, say: Callable[[str], None]) -> None:
        """Download and unpack what is not there yet; :class:`ToolError` if that cannot be done."""
        if self._done.exists() and self._done.read_text() == _list_text():
            return
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise ToolError("the machine's packages are Debian's, and this system has no apt-get or dpkg-deb")
        names = _missing()
        say(f"{len(names)} packages of Debian, into {self._archives}")
        self._archives.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "-o", "APT::Sandbox::User=root", "download", *names], self._archives)
        shutil.rmtree(self.root, ignore_errors=True)
        for archive in sorted(self._archives.glob("*.deb")):
            _run(["dpkg-deb", "-x", str(archive), str(self.root)], self._archives)
        self._done.write_text(_list_text())

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

    @property
    def kernel(self) -> Path:
        """The kernel's image."""
        images = sorted(self.root.glob("boot/vmlinuz-*"))
        if not images:
            raise ToolError(f"no kernel in {self.root / 'boot'}")
        return images[-1]

    @property
    def modules(self) -> Path:
        """The folder of the kernel's modules."""
        return self.root / "lib" / "modules" / self.kernel.name.removeprefix("vmlinuz-")


def _missing() -> list[str]:
    """The packages that are not installed, those that they need included."""
    said = _run(["apt-get", "install", "-s", "--no-install-recommends", *PACKAGES], Path("/"))
    return re.findall(r"^Inst (\S+)", said, re.MULTILINE)


def _list_text() -> str:
    return " ".join(PACKAGES)


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise ToolError(f"{command[0]} {command[1]}: {' '.join(last)}")
    return done.stdout
