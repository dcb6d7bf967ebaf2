"""Bring-up by the C driver beside that by the Python driver: the same writes, facts and failures."""

from dataclasses import replace

import pytest

from flashtrain.host.bringup import (
    CalibrationFailed,
    ChipBusy,
    ChipMissing,
    DataLineDead,
    FeatureRefused,
    NotDeclared,
    ParameterPageDamaged,
    ReadyLineStuck,
    WrongChip,
    bring_up,
)
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import Register
from flashtrain.spec.sdr import with_sdr_waits
from tests.chip.onfi_chip import Facts, OnfiChip, parameter_page
from tests.chip.port_link import PortLink

from .ports import FAILURES, CPort, chips_of, recorded

CONFIG = replace(
    TINY, name="ported", geometry=replace(TINY.geometry, dies=2), timing=with_sdr_waits(TINY.timing),
    command_port=True,
    chips=replace(TINY.chips, sdr=True, drive_ohms=25, zq_calibration=True, ready_busy=True),
)  # fmt: skip
G = CONFIG.geometry
FACTS = Facts(
    page_bytes=G.page_bytes, spare_bytes=G.spare_bytes, pages=G.pages, blocks=G.blocks * G.planes,
    plane_bits=1, modes=0b011111, optional=1 << 13 | 1 << 2, drive=0b011,
)  # fmt: skip
GOOD = parameter_page(FACTS)
LUNS = replace(
    CONFIG,
    geometry=replace(G, dies=4),
    chips=replace(CONFIG.chips, luns=2, suspended_read=False, update=False),
)
"""Each of the two chip enables of a channel has two LUNs."""
PAUSE_CYCLES = 50 * CONFIG.timing.clock_mhz
"""Between two looks at R/B#: all polls together are longer than the longest reset."""


def link_with(config=CONFIG, **changes) -> PortLink:
    """All chips are good but that of channel 1, die 0."""
    link = PortLink(config)
    facts = replace(FACTS, luns=config.chips.luns)
    link.chips = [[OnfiChip(facts) for _ in chips] for chips in link.chips]
    link.chips[1][0] = OnfiChip(**{"facts": facts, **changes})
    return link


def both(**changes):
    """Reports of the Python driver, chips of the C driver, and the Links of both."""
    links = link_with(**changes), link_with(**changes)
    ports = CPort(links[1], pause_cycles=PAUSE_CYCLES)
    writes = [recorded(link) for link in links]
    reports = bring_up(links[0])
    ports.begin()
    chips = chips_of(ports)
    ports.close()
    assert writes[0] and writes[0] == writes[1]
    for link in links:
        assert link.pauses == 0 and link.mode == 0 and link.read_register(Register.CONTROL) == 0
    assert links[0].interface == links[1].interface
    for report, chip in zip(reports, chips, strict=True):
        assert FAILURES[chip.failure] is type(report.error)
        assert chip.mode == report.mode
        if report.page is not None:
            page = report.page
            assert (chip.maker.decode(), chip.model.decode()) == (page.maker, page.model)
            for name in ("page_bytes", "spare_bytes", "pages", "blocks", "luns", "planes"):
                assert getattr(chip, name) == getattr(page, name), name
            assert chip.sdr_modes == sum(1 << mode for mode in page.sdr_modes)
    return reports, links


def damaged(*places: int) -> list[bytes]:
    """A copy for each place, with a wrong bit there."""
    return [GOOD[:at] + bytes([GOOD[at] ^ 0x10]) + GOOD[at + 1 :] for at in places]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"facts": replace(FACTS, modes=0b0111, maker="EVIL\x1b[2J")},
        {"copies": [*damaged(80), GOOD, GOOD]},
        {"copies": damaged(80, 100, 200)},
        {"first_busy": 9_000_000},
    ],
    ids=["as configured", "a slower one", "a damaged copy", "damaged copies", "a long reset"],
)
def test_sound_chips(changes):
    reports, links = both(**changes)
    assert all(report.error is None for report in reports)
    mode = 2 if "facts" in changes else 4
    assert links[1].interface == mode | 1 << 3 and {report.mode for report in reports} == {mode}


@pytest.mark.parametrize(
    ("failure", "changes"),
    [
        (ChipBusy, {"never_ready": True}),
        (ChipBusy, {"feature_busy": 1e9}),
        (ReadyLineStuck, {"line_low": True}),
        (ReadyLineStuck, {"line_high": True}),
        (ChipBusy, {"line_low": True, "never_ready": True}),
        (ChipBusy, {"line_low": True, "present": False}),
        (ChipMissing, {"present": False}),
        (ChipMissing, {"stuck_low": 0xFF}),
        (DataLineDead, {"stuck": 1 << 2}),
        (DataLineDead, {"stuck_low": 1 << 3}),
        (WrongChip, {"signature": b"JEDC"}),
        (WrongChip, {"facts": replace(FACTS, pages=64)}),
        (WrongChip, {"facts": replace(FACTS, luns=2)}),
        (WrongChip, {"facts": replace(FACTS, modes=0)}),
        (ParameterPageDamaged, {"copies": damaged(80, 80, 80)}),
        (FeatureRefused, {"keeps_features": False}),
        (NotDeclared, {"facts": replace(FACTS, drive=0b101)}),
        (NotDeclared, {"facts": replace(FACTS, optional=1 << 2)}),
        (CalibrationFailed, {"has_resistor": False}),
    ],
)
def test_a_chip_that_fails(failure, changes):
    """The others are brought up, and the engines get their mode."""
    reports, links = both(**changes)
    assert [type(report.error) for report in reports] == [type(None), type(None), failure, type(None)]
    assert links[1].interface == 4 | 1 << 3


def test_luns():
    """Each is calibrated, and asked for its own status."""
    reports, links = both(config=LUNS)
    assert len(reports) == 4 and all(report.error is None for report in reports)
    rows = [LUNS.row_address(lun, 0, 0, 0) for lun in range(2)]
    for chip in (chip for link in links for chips in link.chips for chip in chips):
        assert chip.calibrations == [(0xF9, 0), (0xF9, 1)] and chip.asked == rows and not chip.unknown


@pytest.mark.parametrize(
    ("failure", "changes"),
    [
        (WrongChip, {"facts": FACTS}),
        (CalibrationFailed, {"has_resistor": False}),
        (ReadyLineStuck, {"line_low": True}),
    ],
)
def test_luns_that_fail(failure, changes):
    """A chip with another number of LUNs, or whose status tells of a failure."""
    facts = {"facts": replace(FACTS, luns=2), **changes}
    reports, links = both(config=LUNS, **facts)
    assert [type(report.error) for report in reports] == [type(None), type(None), failure, type(None)]
    assert not any(chip.unknown for link in links for chips in link.chips for chip in chips)
