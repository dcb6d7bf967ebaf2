"""The machine: QEMU without KVM, with a network that reaches the targets and nothing else."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flashtrain.qemu.emulator import PROGRAM

from .packages import Packages

_ADDRESS = "10.0.2.{}:4420"
_FIRST = 100
"""Where the targets are for the machine: at this number and those behind it."""

MEMORY_MIB = 1024


@contextmanager
def running(
    packages: Packages, initramfs: Path, ports: Sequence[int], seconds: float, processors: int = 2
) -> Iterator[Iterator[str]]:
    """The lines of the machine's console, as they come. The machine ends with the block, or its time.

    ports: those of the targets, in the order of their addresses.
    """
    emulator = packages.emulator
    relay = f"{sys.executable} -I -S {Path(__file__).with_name('relay.py')}"
    forwards = "".join(
        f",guestfwd=tcp:{_ADDRESS.format(number)}-cmd:{relay} {port}"
        for number, port in enumerate(ports, _FIRST)
    )
    command = [
        str(emulator.program(PROGRAM)),
        *("-L", str(emulator.root / "usr/share/qemu"), "-L", str(emulator.root / "usr/share/seabios")),
        *("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-smp", str(processors)),
        *("-m", str(MEMORY_MIB), "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio"),
        *("-kernel", str(packages.kernel), "-initrd", str(initramfs)),
        *("-append", "console=ttyS0 quiet panic=-1"),
        *("-netdev", f"user,id=net,restrict=on{forwards}"),
        *("-device", "virtio-net-pci,netdev=net,romfile="),
    ]
    process = subprocess.Popen(
        command, env={"LD_LIBRARY_PATH": emulator.library_path}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        yield (line.rstrip() for line in process.stdout)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
