"""Figures with drives in the place of their storage, and the figure of the drives of 2026."""

import pytest

from flashtrain.cli.main import main
from flashtrain.figures.catalogue import FIGURES
from flashtrain.figures.drives_2026 import HEADLINE, Drives2026
from flashtrain.figures.errors import FigureError
from flashtrain.figures.flashneuron_runs import FULL, Runs, storage_of
from flashtrain.figures.optimstore_ways import Ways
from flashtrain.figures.page import page
from flashtrain.platform.models import DriveModel, SsdModel
from flashtrain.platform.storage import Kind, alone
from flashtrain.spec import ConfigError
from flashtrain.ssd.drive_array import array_named
from flashtrain.ssd.fit import fitted
from flashtrain.ssd.sheet import sheet_named

ARRAY = array_named("micron-9650:4")
FLASHNEURON = "flashneuron-batch", "flashneuron-throughput"
CHANGED = {
    "optimstore-state": False,  # of the dies alone; drives are in a comparison
    "optimstore-step": True,
}


def test_arrays():
    assert (ARRAY.read, ARRAY.write, ARRAY.drives) == (112e9, 56e9, 4)
    assert array_named("micron-9650") == ARRAY
    assert ARRAY.of_all("watts") == 100 and ARRAY.of_all("read_us") is None
    measured = array_named("deepnvme-gen5:8")
    assert (measured.read, measured.write, measured.sheet) == (48e9, 26e9, None)
    assert measured.of_all("capacity_tb") is None and measured.endurance is None
    assert array_named("micron-9550:2").endurance == "written_in_order_tb" != ARRAY.endurance


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("micron", "storage is 'micron'; expected NAME or NAME:DRIVES with a NAME of intel-p5600"),
        ("micron-9650:0", "expected 1 to 64 drives after the colon"),
        ("micron-9650:x", "expected 1 to 64 drives after the colon"),
        ("deepnvme-gen5:2", "expected so many drives of deepnvme-gen5 as were measured: 8 or 4"),
    ],
)
def test_no_such_array(name, message):
    with pytest.raises(ConfigError, match=message):
        array_named(name)


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in (*FLASHNEURON, "drives-2026")])
def test_every_figure_takes_drives(name):
    """The headline is of the drives, and each assumption about them names its source."""
    figure = FIGURES[name]
    drives = figure.on(ARRAY)
    before, after = figure.headline(figure.defaults()), drives.headline(drives.defaults())
    assert (after != before) == CHANGED.get(name, True)
    assert drives.file_name == f"{name}-micron-9650x4" and figure.file_name == name
    given = [each for each in drives.assumptions if each not in figure.assumptions]
    assert len(given) >= len(figure.drives) - len(figure.drives_optional)
    assert all(each.reason and each.low <= each.value <= each.high for each in given)
    assert figure.storage is None and set(figure.defaults()) <= set(drives.defaults())


@pytest.mark.parametrize("name", FLASHNEURON)
def test_flashneuron_takes_drives(name):
    """Of the smallest network and one batch: drives are faster than one SSD, and memory than drives."""
    figure = FIGURES[name].on(ARRAY)
    runs = Runs(figure.defaults())
    *_, way = runs.ways
    assert way == runs.headline != FULL and runs.ways[:-1] == Runs(FIGURES[name].defaults()).ways
    storage = storage_of(way, 16 << 30)
    assert (storage.read_bytes_per_second, storage.write_bytes_per_second) == (112e9, 56e9)
    batch = 2 * runs.most_in_memory("gpt2")
    one_ssd = runs.ways[1]
    assert runs.throughput("gpt2", batch, one_ssd) < runs.throughput("gpt2", batch, way) < 1.1


def test_values_by_hand():
    """Writes over the demand; the host's step, 12 bytes there and back; and years of a drive's bytes."""
    requirement = FIGURES["behemoth-requirement"]
    demand = requirement.headline(requirement.defaults())
    on_drives = requirement.on(ARRAY)
    assert on_drives.headline(on_drives.defaults()) == pytest.approx(56 / demand)
    assert [c.ours for c in on_drives.shown(on_drives.defaults()).comparisons[3:]] == [112, 56]
    step = FIGURES["optimstore-step"].on(array_named("deepnvme-gen4:4"))
    bound = Ways(step.defaults()).host
    assert bound == (pytest.approx(1 / (12 / 10e9 + 12 / 5e9)), "drives")
    cost = FIGURES["behemoth-memory-cost"].on(ARRAY)
    assert cost.headline(cost.defaults()) == pytest.approx(256 * 20 / (4 * 25_600 * 0.356 + 16 * 4))


def test_what_is_not_published_is_refused():
    for name in ("behemoth-endurance", "behemoth-memory-cost", "optimstore-energy", "optimstore-lifetime"):
        with pytest.raises(FigureError, match=f"{name} needs drives_.*; expected drives that publish it"):
            FIGURES[name].on(array_named("deepnvme-gen5:8"))
    memory = FIGURES["checkpoint-memory"].on(array_named("deepnvme-gen5:8"))
    assert memory.defaults()["ssd_write_mb"] == 26_000 and memory.defaults()["ssd_gb"] == 480


def test_a_page_says_which_drives_it_has():
    figure = FIGURES["behemoth-memory-cost"].on(ARRAY)
    values = figure.defaults()
    content = figure.shown(values)
    assert all(comparison.published is None for comparison in content.comparisons)
    text = page(figure, values, content, 1.0, [])
    assert "4 of micron-9650 (data sheet of Micron 9650 MAX 25.6 TB)" in text
    assert "`flashtrain figure behemoth-memory-cost --storage micron-9650:4` writes this page." in text


def test_the_command(tmp_path, capsys):
    arguments = ["figure", "behemoth-memory-cost", "--out", str(tmp_path)]
    assert main([*arguments, "--storage", "kioxia-cm6:2"]) == 0
    assert (tmp_path / "behemoth-memory-cost-kioxia-cm6x2.md").is_file()
    assert main([*arguments, "--storage", "deepnvme-gen5:8"]) == 2
    assert "needs drives_tb; expected drives that publish it, not deepnvme-gen5:8" in capsys.readouterr().err


def test_all_leaves_out_what_needs_more(tmp_path, capsys, monkeypatch):
    some = {name: FIGURES[name] for name in ("behemoth-requirement", "behemoth-memory-cost")}
    monkeypatch.setattr("flashtrain.cli.figure.FIGURES", some)
    assert main(["figure", "all", "--out", str(tmp_path), "--storage", "deepnvme-gen5:4"]) == 0
    text = capsys.readouterr().out
    assert "left out: behemoth-memory-cost needs drives_tb" in text
    assert (tmp_path / "behemoth-requirement-deepnvme-gen5x4.md").is_file()


def test_drives_of_2026():
    figure = Drives2026()
    content = figure.on(array_named("kioxia-cm6:4")).content(figure.defaults())
    assert content.verdict.startswith("The drives win where they read and write more than the FMS")
    assert "micron-9650:4 with 112 and 56 GB/s" in content.verdict
    rows = {
        row[0]: dict(zip(content.tables[0].header[1:], row[1:], strict=True))
        for row in content.tables[0].rows
    }
    assert {name for name, row in rows.items() if row["beats the FMS"] == "yes"} == {
        HEADLINE, "micron-9550:8", "micron-9650:8",
    }  # fmt: skip
    for name, row in rows.items():
        if name != "FMS":
            assert row["over the FMS"] == pytest.approx(row["iteration, s"] / rows["FMS"]["iteration, s"])
            assert name in content.verdict or row["beats the FMS"] == "no"
    assert rows["deepnvme-gen5:8"]["over the FMS"] > 1 > rows[HEADLINE]["over the FMS"]
    assert rows["deepnvme-gen5:8"]["$"] == rows["kioxia-cm6:4"]["J of an iteration"] == "–"
    assert rows[HEADLINE]["$"] == f"{4 * 25_600 * 0.356:,.0f}"
    assert rows[HEADLINE]["J of an iteration"] == f"{100 * rows[HEADLINE]['iteration, s']:,.0f}"
    link = {row[0]: row[1:] for row in content.tables[1].rows}
    assert link["PCIe 5.0 x16"][1] == pytest.approx(57.6, abs=0.1) and link["PCIe 6.0 x16"][1] == 70.26
    slow = figure.content({**figure.defaults(), "fms_read_gb": 300.0})
    assert slow.verdict == "No drives here read and write more than the FMS with 300.0 and 41.9 GB/s."


def test_a_fitted_drive_in_the_platform():
    """The model's bounds and the sheet's bandwidths agree: each way, the least part has the published one."""
    sheet = sheet_named("micron-9550")
    model, drives = SsdModel(fitted(sheet)), DriveModel(14e9, 10e9)
    for kind, allowed in ((Kind.READ, 0.01), (Kind.APPEND, 0.02)):
        found, published = (alone(each.resources(), kind) for each in (model, drives))
        assert found == pytest.approx(published, rel=allowed)
