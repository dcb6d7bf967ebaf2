"""QEMU's NVMe controller and ours get the same random commands, and each difference has a reason.

`pytest tests/nvme/conformance --seed N` repeats a run, `--long COMMANDS` makes it longer.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from flashtrain.nvme.wire.commands import Entry
from flashtrain.qemu.debian import Unpacked
from flashtrain.qemu.emulator import fetch_emulator, version
from flashtrain.spec import Opcode
from flashtrain.spec.errors import ToolError

from .comparison import Comparison, Unexplained
from .devices import Devices, Raw, device_and_qemu, drive_and_qemu, target_and_qemu
from .differences import DIFFERENCES
from .drive_differences import DRIVE_DIFFERENCES
from .raw_differences import RAW_DIFFERENCES
from .shortening import shortened
from .trial import Outcome, Queue, Trial

COMMANDS, RAW_COMMANDS, PLANTED_COMMANDS, DRIVE_COMMANDS = 20_000, 12_000, 2_000, 10_000
VERSION = "7.2."
"""The release that the tables of differences are about."""

Pair = Callable[[Unpacked], AbstractContextManager[Devices]]
"""Makes two new devices: QEMU's and one of ours."""


@pytest.fixture(scope="module")
def emulator() -> Unpacked:
    """QEMU of Debian 12."""
    try:
        found = fetch_emulator(print)
        number = version(found)
    except ToolError as error:
        pytest.skip(f"QEMU cannot be had: {error}")
    if not number.startswith(VERSION):
        pytest.skip(f"QEMU {number} is here, and the tables of differences are about {VERSION}x")
    return found


def test_the_target_differs_from_qemu_for_reasons(emulator, seed, request):
    with target_and_qemu(emulator) as devices:
        comparison = Comparison(devices, seed, DIFFERENCES)
        _run(comparison, max(COMMANDS, request.config.getoption("--long")), emulator, target_and_qemu)


def test_the_device_differs_from_qemu_for_reasons(emulator, seed, request):
    with device_and_qemu(emulator) as devices:
        comparison = Comparison(devices, seed, RAW_DIFFERENCES, admin_share=0)
        _run(comparison, max(RAW_COMMANDS, request.config.getoption("--long")), emulator, device_and_qemu)


@pytest.mark.long
def test_the_drive_in_rtl_differs_from_qemu_for_reasons(emulator, seed):
    with drive_and_qemu(emulator) as devices:
        comparison = Comparison(devices, seed, DRIVE_DIFFERENCES)
        _run(comparison, DRIVE_COMMANDS, emulator, drive_and_qemu)


def _run(comparison: Comparison, commands: int, emulator: Unpacked, pair: Pair) -> None:
    """Run so many commands; a difference without a reason is shown with few commands."""
    try:
        comparison.run(commands)
    except Unexplained as error:
        few = shortened(error.trials, lambda trials: _fails(comparison, trials, emulator, pair))
        raise Unexplained(error.reason, comparison.seed, few) from None
    for counts in (comparison.explained, {f"status {k:03X}h": n for k, n in comparison.statuses.items()}):
        for name, count in sorted(counts.items(), key=lambda one: -one[1]):
            print(f"{count:6}  {name}")
    assert not comparison.unused(), "rows of the table that explain nothing"


def _fails(comparison: Comparison, trials: list[Trial], emulator: Unpacked, pair: Pair) -> bool:
    """Whether such commands meet a difference without a reason on new devices."""
    with pair(emulator) as devices:
        again = Comparison(devices, comparison.seed, comparison.table)
        try:
            for trial in trials:
                again.compare(trial)
            again.look()
        except Unexplained:
            return True
    return False


def _wrong_opcode(trial: Trial, outcome: Outcome) -> Outcome:
    return outcome._replace(status=0x002) if outcome.status == 0x001 else outcome


def _wrong_byte(trial: Trial, outcome: Outcome) -> Outcome:
    reads = trial.entry.opcode == Opcode.READ and bool(outcome.data)
    return outcome._replace(data=b"?" + outcome.data[1:]) if reads else outcome


def _wrong_zone(trial: Trial, outcome: Outcome) -> Outcome:
    if trial.entry.opcode != Opcode.ZONE_MANAGEMENT_RECEIVE:
        return outcome
    return outcome._replace(data=outcome.data.replace(b"\x02\xe0", b"\x02\x40"))


@pytest.mark.parametrize(
    "wrong, reason",
    [
        (_wrong_opcode, "no row of the table explains status"),
        (_wrong_byte, "no row of the table explains data data"),
        (_wrong_zone, "no row of the table explains"),
    ],
)
def test_a_wrong_answer_is_found(emulator, seed, monkeypatch, wrong, reason):
    right = Raw.run
    monkeypatch.setattr(Raw, "run", lambda raw, trial: wrong(trial, right(raw, trial)))
    with device_and_qemu(emulator) as devices:
        comparison = Comparison(devices, seed, RAW_DIFFERENCES, admin_share=0)
        with pytest.raises(Unexplained, match=reason) as found:
            comparison.run(PLANTED_COMMANDS)
        assert comparison.unused()
    if wrong is _wrong_opcode:
        few = shortened(
            found.value.trials, lambda trials: _fails(comparison, trials, emulator, device_and_qemu)
        )
        assert few == found.value.trials[-1:]


def test_commands_are_left_out_that_do_not_matter():
    trials = [Trial(str(number), Queue.IO, Entry(Opcode.READ)) for number in range(300)]
    needed = {trials[250], trials[280], trials[299]}
    assert set(shortened(trials, lambda some: needed <= set(some))) == needed
    assert shortened(trials, lambda some: False) == trials
