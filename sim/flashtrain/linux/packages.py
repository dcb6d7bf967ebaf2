"""The packages of the machine: Debian's kernel, and the programs that run in it."""

import shutil
from collections.abc import Callable
from pathlib import Path

from flashtrain.qemu.debian import Unpacked, download, missing, unpack
from flashtrain.qemu.emulator import fetch_emulator
from flashtrain.spec.errors import ToolError

PACKAGES = (
    "linux-image-amd64",
    "busybox-static",
    "nvme-cli",
    "fio",
    "util-linux",
    "btrfs-progs",
    "sysstat",
    "blktrace",
)


class Packages(Unpacked):
    """Unpacked packages in `folder`; the emulator's are in the cache of the user."""

    emulator: Unpacked

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "root")
        self._archives = folder / "archives"
        self._done = folder / "complete"

    def fetch(self, say: Callable[[str], None]) -> None:
        """Download and unpack what is not there yet; :class:`ToolError` if that cannot be done."""
        self.emulator = fetch_emulator(say)
        if self._done.exists() and self._done.read_text(encoding="utf-8") == _list_text():
            return
        packages = missing(PACKAGES)
        say(f"{len(packages)} packages of Debian, into {self._archives}")
        download(packages, self._archives)
        shutil.rmtree(self.root, ignore_errors=True)
        unpack(self._archives, self.root)
        self._done.write_text(_list_text(), encoding="utf-8")

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


def _list_text() -> str:
    return " ".join(PACKAGES)
