"""The target and QEMU's NVMe controller get the same random commands, and each difference has a reason.

`pytest tests/nvme/conformance --seed N` repeats a run, `--long COMMANDS` sets its length.
"""

import pytest

from flashtrain.qemu.emulator import fetch_emulator, version
from flashtrain.spec.errors import ToolError

from .comparison import Comparison
from .devices import both

COMMANDS = 20_000
VERSION = "7.2."
"""The release that the table of differences is about."""


@pytest.fixture(scope="module")
def emulator():
    """QEMU of Debian 12."""
    try:
        found = fetch_emulator(print)
        number = version(found)
    except ToolError as error:
        pytest.skip(f"QEMU cannot be had: {error}")
    if not number.startswith(VERSION):
        pytest.skip(f"QEMU {number} is here, and the table of differences is about {VERSION}x")
    return found


def test_every_difference_from_qemu_has_a_reason(emulator, seed, request):
    commands = request.config.getoption("--long") or COMMANDS
    with both(emulator) as devices:
        comparison = Comparison(devices, seed)
        comparison.run(commands)
    for name, count in comparison.explained.most_common():
        print(f"{count:6}  {name}")
    for status, count in comparison.statuses.most_common():
        print(f"{count:6}  status {status:03X}h")
    assert not comparison.unused(), "rows of the table that explain nothing"
