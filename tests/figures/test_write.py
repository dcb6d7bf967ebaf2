"""Figures as files: pages, data, images; and mistakes."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.figures.behemoth_memory_cost import BehemothMemoryCost
from flashtrain.figures.behemoth_requirement import BehemothRequirement
from flashtrain.figures.catalogue import FIGURES
from flashtrain.figures.write import write_figure
from flashtrain.writing import OutputError


def test_files(tmp_path):
    write_figure(BehemothRequirement(), tmp_path, {"dies": 4})
    data = json.loads((tmp_path / "behemoth-requirement.json").read_text(encoding="utf-8"))
    assert [c["reached"] for c in data["comparisons"]] == [True, True, True]
    assert {a["name"]: a["value"] for a in data["assumptions"]}["dies"] == 4
    assert len(data["sensitivity"]) == len(data["assumptions"])
    page = (tmp_path / "behemoth-requirement.md").read_text(encoding="utf-8")
    assert "| `dies` | 4 | dies | 2 to 4 |" in page
    assert "| 50 GB/s | 71.78 GB/s | +43.6% | at least | yes |" in page
    for name in ("behemoth-requirement.png", "behemoth-requirement-tornado.png"):
        assert name in page
        assert (tmp_path / name).stat().st_size > 5000


def test_every_figure_is_named_by_what_it_shows():
    for name, figure in FIGURES.items():
        assert figure.name == name
        names = [assumption.name for assumption in figure.assumptions]
        assert len(set(names)) == len(names)
        for assumption in figure.assumptions:
            assert assumption.low <= assumption.value <= assumption.high
            assert assumption.reason


def test_command(tmp_path, capsys):
    assert main(["figure"]) == 0
    assert "behemoth-throughput" in capsys.readouterr().out
    assert main(["figure", "behemoth-memory-cost", "--out", str(tmp_path), "--set", "ddr_gb=32"]) == 0
    assert "3.488 times" in capsys.readouterr().out
    assert main(["figure", "behemoth-memory-cost", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (comparison,) = document["figures"]["behemoth-memory-cost"]["comparisons"].values()
    assert comparison["reached"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no figure 'nothing'; expected all or one of behemoth-throughput"),
        (["behemoth-memory-cost", "--set", "x=1"], "has no assumption 'x'; expected one of hbm_gb"),
        (["behemoth-memory-cost", "--set", "ddr_gb=x"], "expected NAME=VALUE with a number"),
        (["all", "--set", "ddr_gb=1"], "--set with all figures; expected the name of one"),
    ],
)
def test_mistakes(arguments, message, tmp_path, capsys):
    assert main(["figure", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="is not a folder"):
        write_figure(BehemothMemoryCost(), tmp_path / "file" / "figures")
