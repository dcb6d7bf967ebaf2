"""Data sheets, links, and the drives that are fitted to sheets."""

import pytest

from flashtrain.reading import InputError
from flashtrain.spec import ConfigError
from flashtrain.ssd import SsdArray, SsdConfig, bounds
from flashtrain.ssd.array import sequence
from flashtrain.ssd.fit import TOLERANCES, fitted, points
from flashtrain.ssd.pcie import PcieLink
from flashtrain.ssd.sheet import NEEDED, SHEETS, VALUES, load_sheet, sheet_named
from flashtrain.traces import Operation

SHEET = """\
model = "A drive"
pcie = 5
lanes = 4
[sources]
page = "a page"
[values]
"""
SOUND = {"read_gb": 14.0, "write_gb": 10.0, "read_iops": 3e6, "write_iops": 5e5, "capacity_tb": 8.0}


@pytest.fixture
def write(tmp_path):
    def sheet(text=SHEET, **changes):
        path = tmp_path / "a.toml"
        values = {key: value for key, value in (SOUND | changes).items() if value is not None}
        lines = (f'{key} = {{ value = {value}, source = "page" }}\n' for key, value in values.items())
        path.write_text(text + "".join(lines), encoding="utf-8")
        return path

    return sheet


def test_links():
    """By hand: 128 of 130 bits and 256 of 280 bytes; 236 of 256 bytes and 256 of 272."""
    assert PcieLink(3, 1).bytes_per_second == pytest.approx(1e9 * 128 / 130 * 256 / 280)
    assert PcieLink(5, 4).bytes_per_second == 4 * PcieLink(3, 4).bytes_per_second
    assert PcieLink(6, 4).bytes_per_second == pytest.approx(32e9 * 236 / 256 * 256 / 272)
    # Two packets of 8 bytes for each that comes.
    assert PcieLink(4, 4).both_ways == pytest.approx(8e9 * 128 / 130 * 256 / 296)
    assert PcieLink(6, 4).both_ways == PcieLink(6, 4).bytes_per_second
    assert PcieLink(6, 16, 512).bytes_per_second > PcieLink(6, 16).bytes_per_second
    assert str(PcieLink(6)) == "PCIe 6.0 x4"
    for bad in ((2, 4, 256), (7, 4, 256), (5, 3, 256), (5, 4, 300)):
        with pytest.raises(ConfigError, match="link"):
            PcieLink(*bad)


@pytest.mark.parametrize("name", SHEETS)
def test_published_points(name):
    """Each published value that the model has, within what docs/ssd.md allows."""
    sheet = sheet_named(name)
    found = list(points(sheet))
    assert [point.key for point in found] == [key for key in TOLERANCES if key in sheet.values]
    for point in found:
        assert point.met, point
        assert point.published == sheet[point.key] and point.source


def test_all_generations_have_sheets():
    sheets = [sheet_named(name) for name in SHEETS]
    assert {sheet.link.generation for sheet in sheets} == {4, 5, 6}
    for sheet in sheets:
        assert set(list(VALUES)[:NEEDED]) <= set(sheet.values) <= set(VALUES)


def test_the_link_bounds_a_fitted_drive():
    """Sequential reads are the link's; nothing crosses faster, from flash or from SRAM."""
    config = fitted(sheet_named("micron-9650"))
    assert bounds(config, 1 << 20).read == bounds(config, 1 << 20).link == pytest.approx(28e9, rel=0.01)
    with SsdArray(config) as array:
        array.run(sequence(Operation.WRITE, 0, 3, 64), 4)
        run = array.run(sequence(Operation.READ, 0, 3, 64), 4)
    assert run.counts.buffer_hits == 192
    assert 192 * 4096 / run.seconds < bounds(config, 1 << 20).link


def test_writes_cross_the_link_one_after_the_other():
    config = fitted(sheet_named("micron-9550"))
    slow = SsdConfig(**{**vars(config), "link_ns": 4096})
    with SsdArray(slow) as array:
        run = array.run(sequence(Operation.WRITE, 0, 200, 1), 200)
    # A page a time on the link, and then the firmware's time of the last.
    cycles = 200 * slow.firmware_cycles(4096) + slow.firmware_cycles(slow.write_ns)
    assert run.commands["done"].max() == cycles


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"read_iops": 4e6},
            r"values.read_iops is 4000000; expected at most 3417969 of 4 KiB: read_gb is 14 GB/s",
        ),
        ({"write_iops": 3e6}, r"values.write_iops is 3000000; .* write_gb is 10 GB/s"),
        ({"read_gb": 16.0}, r"values.read_gb is 16.0; expected at most 15.66: the link is PCIe 5.0 x4"),
        ({"write_gb": None}, r"values.write_gb is None; expected GB/s, sequential writes"),
        ({"speed": 1.0}, r"unknown key values.speed; expected one of read_gb"),
        ({"watts": 0.0}, r"values.watts.value is 0.0; expected a number above 0"),
    ],
)
def test_a_sheet_that_contradicts_itself(write, changes, message):
    """One line, which names both values."""
    with pytest.raises(InputError, match=message) as caught:
        load_sheet(write(**changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SHEET.replace("page = ", "book = "),
            r"values.read_gb.source is 'page'; expected a key of \[sources\]",
        ),
        (SHEET.replace("5\n", "7\n"), "link.generation is 7; expected an integer from 3 to 6"),
        (SHEET.replace('"A drive"', "3"), "model is 3; expected a text"),
    ],
)
def test_a_sheet_without_a_source(write, text, message):
    with pytest.raises(InputError, match=message):
        load_sheet(write(text))


def test_a_sheet_that_no_drive_reaches(write):
    with pytest.raises(ConfigError, match=r"values.read_us is 1.0; expected more than commands and data"):
        fitted(load_sheet(write(read_us=1.0)))
    with pytest.raises(ConfigError, match=r"values.read_iops is 3000000; expected fewer: 512 planes"):
        fitted(load_sheet(write(read_us=200.0)))


def test_a_name_that_is_no_sheet():
    with pytest.raises(
        ConfigError, match=r"data sheet is 'micron'; expected a TOML file, or one of intel-p5600"
    ):
        sheet_named("micron")
