"""Bring-up of chips: every step, every failure by its name, in a bounded time and without an erase."""

from dataclasses import replace

import pytest

from flashtrain.host import DeviceHang, FunctionalLink, HostError, open_device
from flashtrain.host.bringup import (
    CalibrationFailed,
    ChipBusy,
    ChipMissing,
    CommandPort,
    DataLineDead,
    FeatureRefused,
    NotDeclared,
    ParameterPageDamaged,
    PortMissing,
    ReadyLineStuck,
    WrongChip,
    bring_up,
    calibrate,
)
from flashtrain.host.bringup.parameter_page import ParameterPage, crc16
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import Register
from tests.chip import onfi_chip
from tests.chip.onfi_chip import Facts, OnfiChip, parameter_page
from tests.chip.port_link import PortLink

CONFIG = replace(TINY, name="ported", geometry=replace(TINY.geometry, dies=2), command_port=True)
G = CONFIG.geometry
FACTS = Facts(
    page_bytes=G.page_bytes, spare_bytes=G.spare_bytes, pages=G.pages, blocks=G.blocks * G.planes,
    plane_bits=1, modes=0b011111,
)  # fmt: skip
KNOWN = {0xFF, 0x90, 0xEC, 0xEE, 0xEF, 0x70, 0x00}
DRIVEN_CONFIG = replace(
    CONFIG, name="driven", chips=replace(CONFIG.chips, drive_ohms=25, zq_calibration=True)
)
ZQ = 1 << 13
DRIVEN = replace(FACTS, optional=FACTS.optional | ZQ, drive=0b011)
LONGEST_MS = 60
STEPS = ["reset", "identity", "parameter page", "configuration", "timing mode"]


@pytest.fixture
def link():
    yield from linked(CONFIG, FACTS, KNOWN)


@pytest.fixture
def driven():
    """Its configuration asks for a drive strength and its calibration, and its chips declare both."""
    yield from linked(DRIVEN_CONFIG, DRIVEN, KNOWN | {0xF9, 0xD9})


def linked(config, facts, known):
    link = PortLink(config)
    link.chips = [[OnfiChip(facts) for _ in range(G.dies)] for _ in range(G.channels)]
    yield link
    # Whatever has happened: no other command, no pause, a disabled controller.
    assert not any(chip.unknown for chips in link.chips for chip in chips)
    assert all(set(chip.commands) <= known for chips in link.chips for chip in chips)
    assert link.pauses == 0 and link.read_register(Register.CONTROL) == 0
    assert link.now < LONGEST_MS * 1e6 * G.dies * G.channels


def failed(link, chip: OnfiChip, kind: type, text: str, steps: list[str] = STEPS) -> None:
    """This chip fails by name; the others pass."""
    link.chips[1][0] = chip
    reports = bring_up(link)
    bad = [report for report in reports if report.error is not None]
    assert [(report.channel, report.die) for report in bad] == [(1, 0)]
    assert type(bad[0].error) is kind
    assert text in str(bad[0].error) and "channel 1, die 0" in str(bad[0].error)
    assert all([step.name for step in report.steps] == steps for report in reports if report is not bad[0])


def test_all_steps(link):
    seen = []
    link.busy_reads = 2
    reports = bring_up(link, on_step=lambda report, step: seen.append(step.name))
    assert [(report.channel, report.die) for report in reports] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for report in reports:
        assert report.error is None and report.mode == 4
        assert [step.name for step in report.steps] == STEPS
        assert report.page is not None and report.page.model == "TESTED"
    assert {chip.features[1] for chips in link.chips for chip in chips} == {bytes([4, 0, 0, 0])}
    assert link.modes_seen == {0, 4} and link.mode == 0
    assert not any(chip.ignored for chips in link.chips for chip in chips)
    assert len(seen) == 4 * len(STEPS)


def test_the_slowest_chip_sets_the_mode(link):
    link.chips[0][1] = OnfiChip(replace(FACTS, modes=0b0111))
    assert {report.mode for report in bring_up(link)} == {2}
    assert {report.mode for report in bring_up(link, fastest=1)} == {1}


def test_no_chip(link):
    failed(link, OnfiChip(FACTS, present=False), ChipMissing, "READ ID gives FFh alone")


def test_pulled_down_pins(link):
    failed(link, OnfiChip(FACTS, stuck_low=0xFF), ChipMissing, "READ ID gives 00h alone")


@pytest.mark.parametrize(("line", "level"), [(0, 1), (1, 0), (2, 1), (3, 0)])
def test_a_dead_data_line(link, line, level):
    dead = {"stuck": 1 << line} if level else {"stuck_low": 1 << line}
    failed(link, OnfiChip(FACTS, **dead), DataLineDead, f"data line DQ{line} is always {level}")


def test_a_dead_line_that_the_identity_does_not_show(link):
    """DQ7 is 0 in all of "ONFI"."""
    failed(link, OnfiChip(FACTS, stuck_low=1 << 5), ParameterPageDamaged, "DQ5 is always 0")


def test_another_kind_of_chip(link):
    failed(link, OnfiChip(FACTS, signature=b"JEDC"), WrongChip, "READ ID 20h gives 4A 45 44 43")


def test_a_chip_of_another_size(link):
    facts = replace(FACTS, pages=64, page_bytes=2048)
    failed(link, OnfiChip(facts), WrongChip, "page_bytes 2,048; expected 512, pages 64; expected 6")


def test_several_luns(link):
    failed(link, OnfiChip(replace(FACTS, luns=2)), WrongChip, "LUNs 2; expected 1")


@pytest.mark.parametrize("bad", [(0,), (0, 1), (1, 2)])
def test_a_damaged_copy(link, bad):
    link.chips[0][0] = OnfiChip(FACTS).with_bad_copies(*bad)
    report = bring_up(link)[0]
    assert report.error is None and report.page is not None
    first = next(number for number in range(3) if number not in bad)
    assert report.page.source == f"copy {first + 1} of 3"


def test_the_majority_of_damaged_copies(link):
    """Each has another wrong bit."""
    good = parameter_page(FACTS)
    copies = [good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :] for at in (80, 100, 200)]
    link.chips[0][0] = OnfiChip(FACTS, copies)
    report = bring_up(link)[0]
    assert report.error is None and report.page is not None
    assert report.page.source == "the majority of three copies" and report.page.page_bytes == G.page_bytes


def test_all_copies_are_damaged(link):
    damaged = OnfiChip(FACTS).with_bad_copies(0, 1, 2)
    failed(link, damaged, ParameterPageDamaged, "no copy of the parameter page has a right CRC")


def test_a_long_first_reset(link):
    link.chips[0][0] = OnfiChip(FACTS, first_busy=9_000_000)
    assert bring_up(link)[0].error is None


def test_a_chip_that_stays_busy(link):
    busy = OnfiChip(FACTS, never_ready=True)
    failed(link, busy, ChipBusy, "is busy with its first reset for more than 10,000 µs")


def test_a_ready_line_that_never_rises(link):
    """It is named behind the reset; a chip that is busy as well, or missing, has no status that is ready."""
    stuck = OnfiChip(FACTS, line_low=True)
    failed(link, stuck, ReadyLineStuck, "R/B# is low for more than 10,000 µs of its first reset, while the")
    assert stuck.commands == [0xFF, 0x70] and not stuck.ignored
    for changes in ({"never_ready": True}, {"present": False}):
        failed(link, OnfiChip(FACTS, line_low=True, **changes), ChipBusy, "is busy with its first reset")


WIRED_CONFIG = replace(CONFIG, name="wired", chips=replace(CONFIG.chips, ready_busy=True))


@pytest.fixture
def wired():
    """The engines have R/B#, too."""
    yield from linked(WIRED_CONFIG, FACTS, KNOWN)


def test_a_ready_line_that_never_falls(wired):
    """Of a chip that answers; one that is missing is named as such."""
    high = OnfiChip(FACTS, line_high=True)
    failed(wired, high, ReadyLineStuck, "R/B# stays high during a reset; is the line wired?")
    failed(wired, OnfiChip(FACTS, present=False), ChipMissing, "READ ID gives FFh alone")


def test_a_ready_line_that_is_not_declared(link):
    link.chips[0][0] = OnfiChip(FACTS, line_high=True, first_busy=1_000, page_busy=1_000)
    assert all(report.error is None for report in bring_up(link))


def test_a_slow_feature(link):
    failed(link, OnfiChip(FACTS, feature_busy=1e9), ChipBusy, "is busy with feature 01h")


def test_a_feature_that_is_not_kept(link):
    failed(link, OnfiChip(FACTS, keeps_features=False), FeatureRefused, "feature 01h is 00 00 00 00")


DRIVEN_STEPS = [*STEPS[:-1], "drive strength", "ZQ calibration", STEPS[-1]]


def test_drive_strength_and_its_calibration(driven):
    """In timing mode 0, before the faster one."""
    reports = bring_up(driven)
    for report in reports:
        assert report.error is None and [step.name for step in report.steps] == DRIVEN_STEPS
        assert [step.outcome for step in report.steps[-3:]] == ["25 ohm", "passed", "SDR mode 4"]
    for chip in (chip for chips in driven.chips for chip in chips):
        assert chip.features[0x10] == bytes([1, 0, 0, 0])
        assert chip.calibrations == [(0xF9, 0x00)] and not chip.ignored
        assert chip.commands.index(0xF9) < len(chip.commands) - 1 - chip.commands[::-1].index(0xEF)
    with CommandPort(driven) as port:
        calibrate(port.chip(0, 0), short=True)
    assert driven.chips[0][0].calibrations[-1] == (0xD9, 0x00)


@pytest.mark.parametrize("ohms, value, drive", [(18, 0, 0b101), (35, 2, 0b001), (50, 3, 0b001)])
def test_drive_strengths(driven, ohms, value, drive):
    config = replace(DRIVEN_CONFIG, chips=replace(CONFIG.chips, drive_ohms=ohms))
    link = PortLink(config)
    link.chips = [[OnfiChip(replace(FACTS, drive=drive)) for _ in range(G.dies)] for _ in range(G.channels)]
    assert all(report.error is None for report in bring_up(link))
    assert {chip.features[0x10] for chips in link.chips for chip in chips} == {bytes([value, 0, 0, 0])}


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"drive": 0}, "declares no drive strength of 25 ohm; it declares none"),
        ({"drive": 0b110}, "declares no drive strength of 25 ohm; it declares none"),
        ({"drive": 0b101}, "declares no drive strength of 25 ohm; it declares 18 ohm, 35 ohm, 50 ohm"),
        ({"optional": FACTS.optional}, "declares no ZQ calibration"),
    ],
)
def test_what_a_chip_does_not_declare(driven, facts, text):
    """Neither the feature nor the command is sent."""
    chip = OnfiChip(replace(DRIVEN, **facts))
    failed(driven, chip, NotDeclared, text, DRIVEN_STEPS)
    assert ("drive" in facts) == (0x10 not in chip.features) and not chip.calibrations


def test_a_calibration_without_a_resistor(driven):
    chip = OnfiChip(DRIVEN, has_resistor=False)
    failed(driven, chip, CalibrationFailed, "ZQ CALIBRATION LONG has failed with status E1h", DRIVEN_STEPS)


def test_a_calibration_that_does_not_end(driven):
    chip = OnfiChip(DRIVEN, calibration_busy=1e9)
    failed(driven, chip, ChipBusy, "is busy with ZQ CALIBRATION LONG for more than 10 µs", DRIVEN_STEPS)


def test_a_drive_strength_that_is_not_kept(driven):
    chip = OnfiChip(DRIVEN, keeps_features=False)
    failed(driven, chip, FeatureRefused, "feature 10h is 00 00 00 00 after it was set to 01", DRIVEN_STEPS)


def test_what_a_chip_says_is_only_text(link):
    link.chips[0][0] = OnfiChip(replace(FACTS, maker="EVIL\x1b[2J"))
    report = bring_up(link)[0]
    assert report.page is not None and report.page.maker == "EVIL?[2J"


def test_a_device_without_a_port():
    with pytest.raises(PortMissing, match="'tiny' has no command port; expected command_port = true"):
        bring_up(FunctionalLink(TINY, 1 << 20))


def test_a_link_without_pins():
    with pytest.raises(
        PortMissing, match="FunctionalLink has no pins for a command port; expected a Link with"
    ):
        bring_up(FunctionalLink(CONFIG, 1 << 20))


def test_an_engine_that_does_not_pause(link):
    link.never_pauses = True
    with pytest.raises(DeviceHang, match="the engine of channel 0 does not pause"):
        bring_up(link)


def test_arguments_are_checked(link):
    with CommandPort(link) as port:
        for call in (
            lambda: port.chip(2, 0), lambda: port.chip(0, 2), lambda: port.set_mode(6),
            lambda: port.chip(0, 0).command(256),
        ):  # fmt: skip
            with pytest.raises(HostError):
                call()


def test_an_enabled_device_goes_on(link):
    """It is paused when it is idle; its streams have what they had."""
    with open_device(link=link, preset=CONFIG) as device:
        assert device.config is CONFIG
        with CommandPort(link) as port:
            chip = port.chip(0, 0)
            chip.command(0xFF)
            chip.wait_ready(10_000, "a reset")
            assert chip.status() & 0x60 == 0x60
        assert link.pauses == 0 and link.read_register(Register.CONTROL) & 1


def test_the_crc_is_the_standards():
    """Two computations of it, of which one is the tests'."""
    page = parameter_page(FACTS)
    assert crc16(page[:254]) == onfi_chip.crc16(page[:254]) == int.from_bytes(page[254:], "little")
    assert ParameterPage.find([page] * 3) is not None
