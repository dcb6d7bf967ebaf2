"""Debian's Linux as a host of the target, in QEMU; more of it in `make linux`."""

from pathlib import Path

import pytest

from flashtrain.linux import pcie
from flashtrain.linux.packages import Packages
from flashtrain.linux.run import DEVICES, Device, run, table
from flashtrain.spec.errors import ToolError

FOLDER = Path("build/linux")
SHORT = (
    "discover", "connect", "identify", "report", "append", "states", "refusals", "admin", "neighbour",
    "disconnect",
)  # fmt: skip


def _packages() -> Packages:
    packages = Packages(FOLDER.resolve())
    try:
        packages.fetch(print)
    except ToolError as error:
        pytest.skip(f"the packages of the machine cannot be had: {error}")
    return packages


def _check(device: Device, names: tuple[str, ...] | None, folder: Path) -> None:
    outcome = run(device, _packages(), folder, print, names)
    print("\n".join(outcome.console))
    print(table(outcome))
    assert outcome.good
    assert names is None or tuple(step.name for step in outcome.steps) == names
    assert outcome.refused and not outcome.repeated


@pytest.mark.long
def test_linux_connects_reports_appends_and_reads(tmp_path):
    _check(Device("small", "functional", 1, 400), SHORT, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: f"whole-{device.preset}")
def test_all_steps(device, tmp_path):
    _check(device, None, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    "device, extra",
    [
        (pcie.DEVICES[0], ()),
        (pcie.DEVICES[0], ("--machine", "microvm,pcie=on,acpi=on,rtc=on")),
        (pcie.DEVICES[1], ()),
    ],
    ids=["q35", "microvm", "rtl"],
)
def test_linux_drives_the_function_on_its_bus(device, extra, tmp_path):
    packages = _packages()
    pcie.check_driver(packages)
    outcome = pcie.run(device, packages, tmp_path, print, extra=extra)
    print("\n".join(outcome.console))
    print(table(outcome))
    assert outcome.good and outcome.refused
