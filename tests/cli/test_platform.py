"""`flashtrain platform`."""

import json

import pytest

from flashtrain.cli.main import main


def test_run(tmp_path, capsys):
    figure, trace = tmp_path / "t.png", tmp_path / "t.json"
    arguments = ["gpt", "1x1", "--phi", "0.1", "--timeline", str(figure), "--trace", str(trace)]
    assert main(["platform", "run", *arguments]) == 0
    text = capsys.readouterr().out
    assert "gpt 1x1 on 1 activation and 1 weight nodes, storage fms" in text
    assert "storage: arrays" in text
    assert figure.exists()
    assert trace.exists()


def test_run_of_a_file(tmp_path, capsys):
    path = str(tmp_path / "gpt.json")
    assert main(["sequence", "behemoth", "gpt", "1x1", "--out", path]) == 0
    capsys.readouterr()
    documents = []
    for workload in ([path], ["gpt", "1x1"]):
        assert main(["platform", "run", *workload, "--storage", "ssd", "--nodes", "2", "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    assert documents[0]["nodes"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gpt"], "no row after 'gpt'"),
        (["gpt", "1x1", "x"], "'gpt 1x1 x': expected a workload such as gpt 2x4"),
        (["absent.json"], "absent.json: cannot be read"),
        (["absent.json", "x"], "expected nothing beside a sequence file"),
        (["gpt", "1x1", "--nodes", "5"], "5 activation nodes for 8 of 'micro_batch' in gpt 1x1; expected a"),
        (["gpt", "1x1", "--buffer", "1"], "expected a larger buffer"),
        (
            ["gpt", "1x1", "--storage", "ssd", "--window", "0:0.1"],
            "--window with --storage ssd; expected --storage fms",
        ),
    ],
)
def test_mistakes(arguments, message, capsys):
    assert main(["platform", "run", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("1", "expected BEGIN:END in seconds, got '1'"),
        ("0:1", "window 0:1; expected 0 <= BEGIN < END, at most 0.1 s"),
    ],
)
def test_windows_that_cannot_be(window, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["platform", "run", "gpt", "1x1", "--window", window])
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
