"""`flashtrain train` with a network and data of one's own."""

import json
from pathlib import Path

import numpy as np
import pytest

from flashtrain.cli.main import main
from flashtrain.cli.train_options import parse_schedule
from flashtrain.spec import ConfigError
from flashtrain.training.schedules import Constant, Cosine, Step, WarmUp

NETWORKS = Path(__file__).parents[2] / "examples" / "networks"
CURVE = """\
from flashtrain.training.layers import GELU, Linear
from flashtrain.training.losses import MeanSquaredError
from flashtrain.training.networks import Network
NETWORK = Network(
    "curve", (2,), 1, (("hidden", Linear(2, 16)), ("gelu", GELU()), ("output", Linear(16, 1))),
    MeanSquaredError(),
)
"""


def train(capsys, folder, *arguments, link="functional"):
    """The document of a run that has to be bit-exact."""
    assert main(["train", *map(str, arguments), "--link", link, "--output", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bit_exact"] is True
    return document


def test_dropout_and_batch_norm_through_the_rtl(tmp_path, capsys):
    arguments = (f"{NETWORKS}/own_network.py:NETWORK", "--preset", "tiny", "--iterations", 3, "--batch", 8)
    through_rtl = train(capsys, tmp_path, *arguments, link="rtl")
    assert through_rtl["network"] == "own" and through_rtl["cycles"] > 0
    assert through_rtl["losses"] == train(capsys, tmp_path, *arguments)["losses"]


def test_a_network_of_16_bits_through_the_rtl(tmp_path, capsys):
    """With all kinds of steps, some of which are skipped."""
    document = train(
        capsys, tmp_path, f"{NETWORKS}/own_network.py:NETWORK", "--preset", "tiny", "--iterations", 4,
        "--batch", 8, "--activations", "fp16", "--loss-scale", 2**18, "--clip", 0.5,
        "--schedule", "warm-up:2,cosine", "--evaluate", 2, link="rtl",
    )  # fmt: skip
    assert document["activations"] == "fp16" and document["updates"]["skips"] > 0
    assert [each["iteration"] for each in document["evaluations"]] == [2, 4]


def test_characters(tmp_path, capsys, monkeypatch):
    """The tiny GPT learns what its text repeats."""
    monkeypatch.syspath_prepend(str(NETWORKS))
    import characters

    inputs, targets = characters.examples("the flash appends and never overwrites. " * 60)
    np.savez(
        tmp_path / "text.npz", train_inputs=inputs[9:], train_targets=targets[9:],
        test_inputs=inputs[:9], test_targets=targets[:9],
    )  # fmt: skip
    document = train(
        capsys, tmp_path, f"{NETWORKS}/characters.py:gpt", "--data", tmp_path / "text.npz",
        "--iterations", 20, "--batch", 8, "--activations", "bf16", "--evaluate", 10,
    )  # fmt: skip
    first, last = document["evaluations"]
    assert last["loss"] < first["loss"] and last["accuracy"] > 0.5


def test_a_regression(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("curve.py").write_text(CURVE, encoding="utf-8")
    x = np.random.default_rng(1).uniform(-1, 1, (200, 2))
    np.savez("data.npz", x_train=x[50:], y_train=x[50:].prod(1), x_test=x[:50], y_test=x[:50].prod(1))
    arguments = ["curve.py:NETWORK", "--data", "data.npz", "--iterations", "60", "--evaluate", "30"]
    document = train(capsys, tmp_path, *arguments, "--optimizer", "adamw", "--learning-rate", 0.02)
    assert document["accuracy"] is None and document["test_loss"] < 0.05
    assert document["evaluations"][-1]["loss"] == document["test_loss"]
    short = ["--iterations", "1", "--link", "functional", "--output", str(tmp_path)]
    assert main(["train", *arguments, *short]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["iteration", "loss", "error", "simulated", "wall"]
    assert lines[3].startswith("curve: 1 iterations, loss ") and ", error " in lines[3]


def test_the_loss_of_the_test_is_in_the_table(tmp_path, capsys):
    arguments = ["--link", "functional", "--iterations", "5", "--evaluate", "2", "--output", str(tmp_path)]
    assert main(["train", "mlp", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["iteration", "loss", "test", "loss", "accuracy", "simulated", "wall"]
    assert [line.split()[0] for line in lines[1:4]] == ["2", "4", "5"]


MISTAKES = [
    (("vgg",), "network 'vgg': expected one of mlp, wide, convnet, attention, or MODULE:NAME for your own"),
    (("--network", "vgg"), "network 'vgg': expected one of mlp"),
    (("missing.py:NETWORK",), "missing.py: no such file"),
    (("curve.py:NETWORK",), "the digits (--data has others): train_inputs has the shape (1438, 8, 8)"),
    (("curve.py:NETWORK", "--data", "none.npz"), "none.npz: cannot be read: No such file or directory"),
    (("bad.py:NETWORK",), "bad.py: bad.py:1: NameError: name 'oops' is not defined"),
    (("--schedule", "fast"), "--schedule is 'fast'; expected constant, linear, cosine"),
    (("--schedule", "warm-up:0"), "--schedule is 'warm-up:0'; expected"),
    (("--loss-scale", "-1"), "--loss-scale: expected dynamic or a number above 0, got '-1'"),
    (("--clip", "0"), "--clip: expected a number above 0, got '0'"),
    (("--clip", "1", "--update", "core"), "expect updates on the dies"),
    (("--evaluate", "0"), "--evaluate: expected an integer of at least 1, got '0'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("curve.py").write_text(CURVE, encoding="utf-8")
    Path("bad.py").write_text("NETWORK = oops\n", encoding="utf-8")
    try:
        code = main(["train", *arguments, "--link", "functional"])
    except SystemExit as leaving:
        code = leaving.code
    error = capsys.readouterr().err
    assert code == 2 and message in error
    assert "Traceback" not in error


def test_schedules():
    assert parse_schedule("constant", 9) == Constant()
    assert parse_schedule("step:4:0.5", 9) == Step(4, 0.5)
    assert parse_schedule("warm-up:3", 9) == WarmUp(3)
    assert parse_schedule("warm-up:3,cosine", 9) == WarmUp(3, Cosine(6))
    for text in ("step:4", "step:a:1", "cosine,linear", "warm-up", "warm-up:x", ""):
        with pytest.raises(ConfigError, match="--schedule is"):
            parse_schedule(text, 9)
