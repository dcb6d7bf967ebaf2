"""`flashtrain sequence`: generate, show, replay."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.training.recipes import RECIPES
from flashtrain.training.sequence import load_sequence, training_sequence


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mlp.json"
    assert main(["sequence", "generate", str(path), "--batch", "16"]) == 0
    return path


def test_generate(tmp_path, capsys):
    path, recipe = tmp_path / "mlp.json", RECIPES["mlp"]
    assert main(["sequence", "generate", str(path), "--batch", "16"]) == 0
    assert load_sequence(path) == training_sequence(recipe.network, 16, recipe.optimizer)
    assert f"{path}: mlp, batch 16, adam: 13 tensors" in capsys.readouterr().out


def test_show(file, capsys):
    capsys.readouterr()
    assert main(["sequence", "show", str(file), "--steps"]) == 0
    text = capsys.readouterr().out
    assert "iteration  activations" in text
    assert "host  append  input/images" in text
    assert "core  reset   activations" in text
    assert "forward hidden" in text


def test_show_for_machines(file, capsys):
    capsys.readouterr()
    assert main(["sequence", "show", str(file), "--preset", "tiny", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["preset"] == "tiny"
    assert document["phases"]["iteration"]["inputs"]["appended_bytes"] == 16 * 64 * 4 + 16
    # Blocks of 512 bytes: eight for the images, one for the labels.
    assert document["phases"]["iteration"]["inputs"]["stored_bytes"] == 9 * 512


def test_replay(file, capsys):
    capsys.readouterr()
    assert main(["sequence", "replay", str(file), "--link", "functional", "--iterations", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["iterations"] == 3
    assert document["streams"]["inputs"]["appends"] == 6
    assert document["streams"]["activations"]["stream_resets"] == 3
