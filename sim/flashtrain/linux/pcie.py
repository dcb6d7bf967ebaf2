"""The whole test over PCI Express: `flashtrain pcie` with Debian's Linux, and the steps in it."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Container
from pathlib import Path

from flashtrain.qemu.emulator import check_device
from flashtrain.spec.errors import ToolError

from .initramfs import needed, write_initramfs
from .packages import Packages
from .run import MOST_SECONDS, Device, Outcome, outcome_of, run_devices, say, step_of
from .traces import TRACE, compare

MODULES = ("crc32c_generic", "nvme", "zonefs", "btrfs")
OF_THE_TARGET = ("discover", "connect", "admin", "reconnect", "neighbour", "power", "disconnect")
"""Steps of the machine of `flashtrain serve` that have no counterpart here."""

DEVICES = (
    Device("behemoth", "functional", 4, 0, without=OF_THE_TARGET),
    Device("small", "rtl", 1, 0, without=(*OF_THE_TARGET, "speed", "power-loss")),
)
"""Rates through a simulation of the RTL say nothing about the front end, and its firmware has no recovery."""

DRIVES = 2
"""On the bus of each machine. All steps use the first, some the second, too."""

PROXY = "x-pci-proxy-dev"
"""The device of QEMU that `flashtrain pcie` needs."""

_SPEED_BYTES = "256m"
_MEMORY_MIB = 512
_PROCESSORS = 8
"""Virtual ones, in one thread of QEMU: Linux makes an I/O queue for each."""


def run(
    device: Device,
    packages: Packages,
    folder: Path,
    say: Callable[[str], None],
    names: Container[str] | None = None,
    extra: tuple[str, ...] = (),
) -> Outcome:
    """Boot the machine with this device, and collect its steps, those of `names` or all.

    extra: further options of the command.
    """
    start, steps, console, log = time.monotonic(), [], [], []
    settings = f"{device.settings}SPEED_BYTES={_SPEED_BYTES}\n"
    initramfs, trace = folder / f"pcie-{device.preset}.cpio", folder / f"pcie-{device.preset}.csv"
    write_initramfs(packages, settings, initramfs, device.steps_of(names), MODULES, ("steps", "pcie"))
    command = [
        *(sys.executable, "-m", "flashtrain.cli.main", "pcie", "--preset", device.preset),
        *("--link", device.link, "--memory", str(_MEMORY_MIB)),
        *("--drives", str(DRIVES), "--trace", str(trace), *extra, "--"),
        *("-smp", str(_PROCESSORS), "-display", "none", "-no-reboot"),
        *("-serial", "stdio", "-kernel", str(packages.kernel), "-initrd", str(initramfs)),
        *("-append", f"console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable tsc_early_khz={_tsc_khz()}"),
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace",
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    said = process.stderr
    reader = threading.Thread(target=lambda: log.extend(line.rstrip() for line in said), daemon=True)
    reader.start()
    timer = threading.Timer(MOST_SECONDS, process.terminate)
    try:
        for line in process.stdout:
            # From the first line on: before it a simulator may be compiled.
            if not console:
                timer.start()
            console.append(line.rstrip())
            if console[-1].startswith("@power"):
                process.send_signal(signal.SIGUSR1)
            elif console[-1].startswith("@pull"):
                process.send_signal(signal.SIGUSR2)
            elif (step := step_of(console[-1])) is not None:
                steps.append(step)
                say(f"{device.preset}: {step.text}")
    finally:
        timer.cancel()
        process.terminate()
        code = process.wait()
        reader.join()
    if not console and code:
        raise ToolError(f"flashtrain pcie: {' '.join(log[-1:])}")
    ended = any(line.startswith("@end") for line in console)
    if any(step.name == TRACE for step in steps):
        steps.append(compare(console, trace))
    return outcome_of(device, steps, time.monotonic() - start, ended, [*console, *log])


def check_driver(packages: Packages) -> None:
    """:class:`ToolError` if the kernel has no driver of NVMe, as a module or built in."""
    built_in = packages.modules / "modules.builtin"
    names = built_in.read_text(encoding="utf-8") if built_in.exists() else ""
    if not needed(packages.modules, "nvme") and "/nvme.ko" not in names:
        raise ToolError(f"{packages.kernel.name} has no driver of NVMe")


def _tsc_khz() -> int:
    """The clock of the processor's counter: a machine without another timer cannot measure it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("cpu MHz"):
            return round(float(line.partition(":")[2]) * 1000)
    raise ToolError("/proc/cpuinfo has no clock of the processor")


def main() -> int:
    folder = Path("build/linux")
    packages = Packages(folder.resolve())
    try:
        packages.fetch(say)
        check_device(packages.emulator, PROXY)
        check_driver(packages)
    except ToolError as error:
        print(f"skipped: {error}")
        return 0
    return run_devices(DEVICES, lambda device: run(device, packages, folder, say), folder, "pcie-")


if __name__ == "__main__":
    sys.exit(main())
