"""`flashtrain train` through the functional model."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.training.awaited import Awaited
from flashtrain.training.state import StateStore
from flashtrain.training.tensors import DeviceStorage

SHORT = ["train", "--link", "functional", "--iterations", "6", "--batch", "32"]


@pytest.mark.parametrize("network", ["mlp", "convnet", "attention"])
@pytest.mark.parametrize("place", ["die", "core"])
def test_each_network_is_bit_exact(network, place, tmp_path, capsys):
    arguments = ["--network", network, "--update", place, "--output", str(tmp_path), "--json"]
    assert main([*SHORT, *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["update"] == place
    if place == "die":
        assert (document["updates"]["updates"], document["updates"]["skips"]) == (6, 0)
        assert document["streams"]["weights"]["appends"] == 0
    else:
        assert document["updates"] is None
        assert document["streams"]["weights"]["appends"] > 0
    assert document["bit_exact"] is True
    assert document["network"] == network
    assert len(document["losses"]) == document["iterations"] == 6
    assert document["streams"]["inputs"]["appends"] == 12
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8")) == document
    assert (tmp_path / "loss.png").stat().st_size > 5000


@pytest.mark.parametrize("codec", ["window32", "round16"])
def test_activations_with_a_codec(codec, tmp_path, capsys):
    """They take fewer pages; only the rounding codec changes the losses, and that is no failure."""
    arguments = ["--preset", "small_codec", "--codec", codec, "--network", "wide", "--output", str(tmp_path)]
    assert main([*SHORT, *arguments, "--iterations", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["codec"] == codec.upper()
    assert document["bit_exact"] is (codec == "window32")
    activations = document["streams"]["activations"]
    assert activations["stored_bytes"] < 0.75 * activations["appended_bytes"]


def test_a_codec_needs_a_configuration_with_one(tmp_path, capsys):
    assert main([*SHORT, "--codec", "window32", "--output", str(tmp_path)]) == 2
    assert "expected RAW, since configuration 'small' has no codec" in capsys.readouterr().err


def test_what_a_reader_sees(tmp_path, capsys):
    assert main([*SHORT, "--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].split() == ["iteration", "loss", "accuracy", "simulated", "wall"]
    assert [line.split()[0] for line in lines[1:7]] == list("123456")
    assert "compared with plain NumPy: the same to the last bit" in text
    assert "activations" in text
    assert "updates on the dies: 6, 0 skipped after an overflow; each 4,810 parameters in 8 tiles" in text
    assert "gradients in 115,440 bytes, 16-bit copies out 0 bytes" in text
    assert str(tmp_path / "loss.png") in text


@pytest.mark.parametrize("place", ["die", "core"])
def test_training_learns(place, tmp_path, capsys):
    arguments = ["train", "--link", "functional", "--update", place, "--output", str(tmp_path), "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["accuracy"] >= 0.95
    # The last one on the way is that of the weights in the flash, the other is of what the host read.
    assert document["evaluations"][-1] == {
        "iteration": document["iterations"], "loss": document["test_loss"], "accuracy": document["accuracy"],
    }  # fmt: skip


@pytest.mark.parametrize("place", ["die", "core"])
def test_a_difference_of_one_bit_is_exit_code_1(place, tmp_path, capsys, monkeypatch):
    honest = DeviceStorage.read

    def dishonest(self, tensor, port):
        awaited = honest(self, tensor, port)
        if tensor.name != "weights/output":
            return awaited

        def flip(array):
            array = array.copy()
            array.view("uint32")[3] ^= 1
            return array

        return Awaited(self._state_device, awaited, flip)

    monkeypatch.setattr(DeviceStorage, "read", dishonest)
    assert main([*SHORT, "--update", place, "--output", str(tmp_path)]) == 1
    assert "DIFFERENT" in capsys.readouterr().out


def test_a_wrong_update_of_the_last_step_is_noticed(tmp_path, capsys, monkeypatch):
    """No loss depends on it: only the weights that the host reads."""
    honest = StateStore.update

    def dishonest(self, tensors, gradients, constants, host):
        if self.updates.updates == 5:
            gradients[1].view("uint32")[100] ^= 1 << 30
        return honest(self, tensors, gradients, constants, host)

    monkeypatch.setattr(StateStore, "update", dishonest)
    assert main([*SHORT, "--output", str(tmp_path)]) == 1
    assert "DIFFERENT: trained weights output.weight" in capsys.readouterr().out


def test_one_iteration_has_no_curve(tmp_path, capsys):
    """Nor is that of an earlier run left beside the new results."""
    for iterations, figures in (("2", ["loss.png"]), ("1", [])):
        arguments = ["--iterations", iterations, "--batch", "8", "--output", str(tmp_path), "--json"]
        assert main(["train", "--link", "functional", *arguments]) == 0
        files = json.loads(capsys.readouterr().out)["files"]
        assert [tmp_path / name for name in figures] == list(tmp_path.glob("*.png"))
        assert files == [str(tmp_path / name) for name in figures]
