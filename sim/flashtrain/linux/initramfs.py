"""The machine's file system: busybox, the programs of the test with their libraries, modules and scripts."""

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from .cpio import Cpio
from .packages import Packages
from .zonefs import super_block

PROGRAMS = ("nvme", "blkzone", "fio", "mkfs.btrfs", "btrfs", "iostat", "blktrace", "blkparse")
MODULES = ("crc32c_generic", "virtio_pci", "virtio_net", "nvme-tcp", "zonefs", "btrfs")
STEPS = ("steps",)
"""Folders of scripts, whose steps are run in the order of their names."""


def write_initramfs(
    packages: Packages, settings: str, path: Path, chosen: Callable[[str], bool],
    modules: Sequence[str] = MODULES, folders: Sequence[str] = STEPS,
) -> None:  # fmt: skip
    """Write the archive to `path`.

    - settings: variables of the steps, as the shell reads them.
    - chosen: whether the step of a name is run.
    - modules: of the kernel, loaded in this order. folders: with the steps.
    """
    with path.open("wb") as file:
        archive = Cpio(file)
        for folder in ("proc", "sys", "dev", "tmp", "run", "mnt", "etc"):
            archive.folder(folder)
        archive.device("dev/console", 5, 1)
        archive.add("bin/busybox", packages.program("busybox").read_bytes(), executable=True)
        archive.link("bin/sh", "busybox")
        for name in PROGRAMS:
            program = packages.program(name)
            archive.add(f"bin/{name}", program.read_bytes(), executable=True)
            for source, inside in packages.libraries(program):
                archive.add(str(inside), source.read_bytes(), executable=True)
        order = []
        for module in modules:
            for source in needed(packages.modules, module):
                if source.name not in order:
                    order.append(source.name)
                    archive.add(f"lib/modules/{source.name}", source.read_bytes())
        archive.add("lib/modules/order", "".join(f"{name}\n" for name in order).encode())
        archive.add("etc/zonefs.super", super_block())
        archive.add("etc/settings", settings.encode())
        for name, script in guest_scripts(chosen, folders):
            archive.add("init" if name == "init.sh" else f"etc/{name}", script, executable=True)
        archive.end()


def guest_scripts(
    chosen: Callable[[str], bool], folders: Sequence[str] = STEPS
) -> Iterator[tuple[str, bytes]]:
    """The scripts of the machine, by their paths."""
    folder = files("flashtrain.linux") / "guest"
    for name in ("init.sh", "functions.sh"):
        yield name, (folder / name).read_bytes()
    scripts = [script for name in folders for script in (folder / name).iterdir()]
    for script in sorted(scripts, key=lambda one: one.name):
        if chosen(step_name(script.name)):
            yield f"steps/{script.name}", script.read_bytes()


def step_name(script: str) -> str:
    """The name of the step in a script: `10-discover.sh` is `discover`."""
    return script.removesuffix(".sh").partition("-")[2]


def needed(modules: Path, name: str) -> list[Path]:
    """A module behind those that it needs, hard and soft; nothing if the kernel has it built in."""
    found = {path.stem.replace("-", "_"): path for path in sorted(modules.rglob("*.ko"))}
    order: list[Path] = []

    def visit(module: str) -> None:
        path = found.get(module.replace("-", "_"))
        if path is None or path in order:
            return
        hard, soft = _dependencies(path.read_bytes())
        for other in [*soft, *hard]:
            visit(other)
        if path not in order:
            order.append(path)

    visit(name)
    return order


def _dependencies(image: bytes) -> tuple[list[str], list[str]]:
    """Modules that a module cannot do without, and those that it asks for, by its own information."""
    hard, soft = [], []
    for item in image.split(b"\0"):
        if item.startswith(b"depends="):
            hard += [one for one in item.removeprefix(b"depends=").decode().split(",") if one]
        elif item.startswith(b"softdep=pre: "):
            soft += item.removeprefix(b"softdep=pre: ").decode().split()
    return hard, soft
