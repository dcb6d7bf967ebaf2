"""`flashtrain platform`."""

import json
from pathlib import Path

import pytest

from flashtrain.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "platform.md").read_text(encoding="utf-8")


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


def test_ranks(tmp_path, capsys):
    """As the page has it, with a figure and a trace beside."""
    assert main(["platform", "ranks", "gpt", "1x1", "--ranks", "8"]) == 0
    assert f"```text\n{capsys.readouterr().out}```" in PAGE
    files = [str(tmp_path / name) for name in ("t.png", "t.json")]
    rest = ["--storage", "fms-rates", "--weights", "memory", "--timeline", files[0], "--trace", files[1]]
    assert main(["platform", "ranks", "gpt", "1x1", *rest, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ranks"] == 2 and document["seconds"] > document["exposed_seconds"]["link"] > 0
    assert all(Path(file).stat().st_size > 10_000 for file in files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--link-us", "nan"], "link: seconds is nan; expected a finite number of at least 0"),
        (["--ranks", "3"], "3 ranks for 8 micro-batches of gpt 1x1; expected a divisor"),
        (["--buffer", "1"], "expected a larger buffer"),
        (["--preset", "small"], "rows of tiles; expected at most 2,048, half of device small"),
    ],
)
def test_mistakes_of_ranks(arguments, message, capsys):
    assert main(["platform", "ranks", "gpt", "1x1", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "65"], "65 ranks are as many processes; expected at most 64"),
        (["--ranks", "5", "--width", "1"], "rank 4 of 5 has no parameters; expected fewer ranks, or longer"),
    ],
)
def test_mistakes_of_compare(arguments, message, capsys):
    assert main(["platform", "compare", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.long
def test_compare(capsys):
    """As the page has it; `tests/torch/ranks/test_platform.py` does the same without the command."""
    assert main(["platform", "compare"]) == 0
    assert f"```text\n{capsys.readouterr().out}```" in PAGE


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
