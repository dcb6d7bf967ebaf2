"""`flashtrain offload`."""

import json
import re
from pathlib import Path

import pytest

from flashtrain.cli.main import main
from flashtrain.cli.offload_arguments import byte_size
from flashtrain.training.offload import load_plan, save_profile
from flashtrain.training.offload.network_file import FOLDER
from flashtrain.training.offload.samples import SAMPLES


def test_plan_figure_and_run(tmp_path, capsys):
    plan, figure = str(tmp_path / "plan.json"), str(tmp_path / "plan.png")
    arguments = ["--preset", "small", "--memory", "2MiB", "--out", plan, "--figure", figure]
    assert main(["offload", "plan", "toy-chain", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("toy-chain, batch 1: 32 operations, 16 saved tensors of 4.19 MB")
    assert lines[4] == "memory     2.10 MB at most, of 2.10 MB"
    assert lines[-2:] == [plan, figure]
    assert load_plan(tmp_path / "plan.json").storage.name == "fms"
    assert main(["offload", "run", plan, "toy-chain", "--link", "functional", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["seconds"] is None
    assert (
        document["written_bytes"]
        == document["read_bytes"]
        == load_plan(tmp_path / "plan.json").offloaded_bytes
    )


def test_a_measured_storage_and_the_model(tmp_path, capsys):
    plan, figure = str(tmp_path / "plan.json"), str(tmp_path / "run.png")
    arguments = ["--storage", "measured", "--preset", "small", "--memory", "2MiB", "--out", plan, "--json"]
    assert main(["offload", "plan", "toy-chain", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["storage"]["name"] == "measured small"
    assert main(["offload", "run", plan, "toy-chain", "--figure", figure]) == 0
    out = capsys.readouterr().out
    assert "came back unchanged" in out and "predicted 5.76 ms" in out


def test_compare(capsys):
    arguments = ["--memory", "2MiB", "--preset", "small", "--least-bytes", "1", "--storage", "fms"]
    assert main(["offload", "compare", "toy-chain", *arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    seconds = {row["schedule"]: row["seconds"] for row in document["rows"]}
    assert list(seconds) == [
        "flashneuron", "ours", "ours, reads unplanned", "ours, instant reads",
        "greedysnake", "greedysnake, horizontal",
    ]  # fmt: skip
    assert document["unlimited_seconds"] <= seconds["ours"] <= seconds["flashneuron"]
    assert seconds["ours"] <= seconds["ours, reads unplanned"]
    assert main(["offload", "compare", "toy-chain", "--memory", "100kB", "--storage", "ssd-flashneuron"]) == 0
    assert capsys.readouterr().out.count("does not fit") == 8


def test_a_profile_file(tmp_path, capsys):
    file = str(tmp_path / "p.json")
    save_profile(SAMPLES["toy-chain"].profile(2), tmp_path / "p.json")
    assert main(["offload", "plan", file, "--memory", "100MB", "--storage", "ssd"]) == 0
    assert "offloaded  0 tensors" in capsys.readouterr().out
    assert main(["offload", "compare", file, "--memory", "100MB", "--storage", "ssd"]) == 0
    out = capsys.readouterr().out
    assert "ours" in out and "greedysnake" not in out  # A profile has one batch.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "gpt3"], "'gpt3': expected a file (.json), or one of gpt-chain"),
        (["plan", "missing.json"], "missing.json: cannot be read"),
        (["plan", "x.json", "--batch", "2"], "x.json: a profile has its batch; expected no --batch"),
        (
            ["plan", "toy-chain", "--memory", "1kB"],
            "toy-chain: operation op.0 finds no space in memory (ours)",
        ),
        (["plan", "toy-chain", "--memory", "lots"], "expected bytes such as 16GB or 512KiB, got 'lots'"),
        (["run", "missing.json", "toy-chain"], "missing.json: cannot be read"),
    ],
)
def test_mistakes(arguments, message, capsys):
    try:
        code = main(["offload", *arguments])
    except SystemExit as end:
        code = end.code
    assert code == 2
    error = capsys.readouterr().err
    assert message in error


def test_a_plan_for_another_model(tmp_path, capsys):
    plan = str(tmp_path / "plan.json")
    assert main(["offload", "plan", "toy-chain", "--out", plan]) == 0
    assert main(["offload", "run", plan, "gpt-chain"]) == 2
    assert "the plan is for model toy-chain" in capsys.readouterr().err


def test_no_figure_without_time(tmp_path, capsys):
    plan = str(tmp_path / "plan.json")
    assert main(["offload", "plan", "toy-chain", "--out", plan]) == 0
    arguments = ["--link", "functional", "--figure", str(tmp_path / "x.png")]
    assert main(["offload", "run", plan, "toy-chain", *arguments]) == 2
    assert (
        "--figure with --link functional, which has no time; expected model or rtl" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16GB", 16 * 10**9),
        ("512KiB", 512 << 10),
        ("1.5G", 1_500_000_000),
        ("10kB", 10_000),
        ("7", 7),
        ("2 TiB", 2 << 40),
    ],
)
def test_byte_sizes(text, size):
    assert byte_size(text) == size


def test_the_recorded_comparisons(capsys):
    """docs/offload.md has the output of these commands."""
    page = (Path(__file__).parents[2] / "docs" / "offload.md").read_text(encoding="utf-8")
    recorded = re.findall(r"<!-- recorded: flashtrain (offload compare .*) -->\n```\n([^`]*)```", page)
    assert len(recorded) == 2
    for command, output in recorded:
        assert main(command.split()) == 0
        assert capsys.readouterr().out == output


def test_a_captured_network(tmp_path, capsys):
    """By name, and as a file."""
    outputs = []
    for name in ("gpt2", str(FOLDER / "gpt2.json")):
        assert main(["offload", "compare", name, "--batch", "2", "--storage", "fms"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] and outputs[0].startswith("gpt2, batch 2: ")
