"""`flashtrain sequence behemoth`."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.training.sequence import load_sequence


def test_list(capsys):
    assert main(["sequence", "behemoth"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 12
    assert lines[7].split()[:5] == ["gpt", "2x4", "347.9", "5566", "34.2"]


def test_out_show_and_replay(tmp_path, capsys):
    path = str(tmp_path / "gpt.json")
    assert main(["sequence", "behemoth", "gpt", "1x1", "--shrink", "100000", "--out", path, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == path
    assert document["steps"] == load_sequence(tmp_path / "gpt.json").iteration_steps
    assert main(["sequence", "show", path, "--steps"]) == 0
    assert "for each micro_batch, in reverse" in capsys.readouterr().out
    assert main(["sequence", "replay", path, "--link", "functional", "--iterations", "2"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt"], "no row after 'gpt'; expected one such as 2x4"),
        (["gpt", "9x9"], "no workload 'gpt 9x9'; expected one of"),
        (["t5", "1x1", "--phi", "0"], "phi is 0.0; expected more than 0, at most 1"),
        (["--out", "x.json"], "--out without a workload"),
    ],
)
def test_mistakes(arguments, message, capsys):
    assert main(["sequence", "behemoth", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
