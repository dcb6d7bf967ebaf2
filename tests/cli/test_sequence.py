"""`flashtrain sequence`: generate, show, replay."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.training.recipes import RECIPES
from flashtrain.training.sequence import UpdatePlace, load_sequence, save_sequence, training_sequence


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mlp.json"
    assert main(["sequence", "generate", str(path), "--batch", "16"]) == 0
    return path


def test_generate(tmp_path, capsys):
    path, recipe = tmp_path / "mlp.json", RECIPES["mlp"]
    assert main(["sequence", "generate", str(path), "--batch", "16"]) == 0
    assert load_sequence(path) == training_sequence(recipe.network, 16, recipe.optimizer)
    text = capsys.readouterr().out
    assert f"{path}: mlp, batch 16, adam: 12 tensors, 27 steps per iteration, update by the die" in text


def test_generate_for_the_core(tmp_path, capsys):
    path, recipe = tmp_path / "mlp.json", RECIPES["mlp"]
    assert main(["sequence", "generate", str(path), "--update", "core", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["update"] == "core"
    expected = training_sequence(recipe.network, recipe.batch, recipe.optimizer, UpdatePlace.CORE)
    assert load_sequence(path) == expected


def test_show(file, capsys):
    capsys.readouterr()
    assert main(["sequence", "show", str(file), "--steps"]) == 0
    text = capsys.readouterr().out
    assert "iteration  activations" in text
    assert "host  append  input/images" in text
    assert "core  reset   activations" in text
    assert "forward hidden" in text
    assert "core  initialise  weights/hidden weights/output (ADAM)" in text
    assert "core  update  weights/hidden weights/output" in text
    assert "updates on the dies: 1, 19,240 bytes of gradients, 8 tiles" in text


def test_show_for_machines(file, capsys):
    capsys.readouterr()
    assert main(["sequence", "show", str(file), "--preset", "tiny", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["configuration"] == "tiny"
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
    assert (document["updates"]["updates"], document["updates"]["skips"]) == (3, 0)


def test_what_a_reader_sees_of_a_replay(tmp_path, capsys):
    path = str(tmp_path / "mlp.json")
    for place, words in (("die", "as appended and updated"), ("core", "as appended")):
        assert main(["sequence", "generate", path, "--update", place]) == 0
        assert main(["sequence", "replay", path, "--link", "functional", "--iterations", "2"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[2].endswith(f"read, all {words}")
        assert lines[3].startswith("updates on the dies: 2, 0 skipped") == (place == "die")


def test_replay_checks_the_fit_before_it_builds_anything(tmp_path, capsys, monkeypatch):
    def build_library(config):
        raise AssertionError("the library is built")

    monkeypatch.setattr("flashtrain.sim.link.rtl_link.build_library", build_library)
    path = tmp_path / "large.json"
    save_sequence(training_sequence(RECIPES["mlp"].network, 1000, RECIPES["mlp"].optimizer), path)
    assert main(["sequence", "replay", str(path), "--preset", "tiny", "--link", "rtl"]) == 2
    error = capsys.readouterr().err
    assert "mlp with batch 1000 does not fit on 'tiny': stream 'state_a' has room for 12 rows" in error
