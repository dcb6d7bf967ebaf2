"""`flashtrain train` through the functional model."""

import json

import pytest

from flashtrain.cli.main import main

SHORT = ["train", "--link", "functional", "--iterations", "6", "--batch", "32"]


@pytest.mark.parametrize("network", ["mlp", "convnet", "attention"])
def test_each_network_is_bit_exact(network, tmp_path, capsys):
    assert main([*SHORT, "--network", network, "--output", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bit_exact"] is True
    assert document["network"] == network
    assert len(document["losses"]) == document["iterations"] == 6
    assert document["streams"]["inputs"]["appends"] == 12
    assert json.loads((tmp_path / "summary.json").read_text()) == document
    assert (tmp_path / "loss.png").stat().st_size > 5000


def test_what_a_reader_sees(tmp_path, capsys):
    assert main([*SHORT, "--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0].split() == ["iteration", "loss", "accuracy", "simulated", "wall"]
    assert [line.split()[0] for line in lines[1:7]] == list("123456")
    assert "compared with plain NumPy: the same to the last bit" in text
    assert "activations" in text
    assert str(tmp_path / "loss.png") in text


def test_training_learns(tmp_path, capsys):
    arguments = ["train", "--link", "functional", "--output", str(tmp_path), "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["accuracy"] >= 0.95
    # The last one on the way is that of the weights in the flash, the other is of what the host read.
    assert document["accuracies"][-1] == [document["iterations"], document["accuracy"]]


def test_a_difference_of_one_bit_is_exit_code_1(tmp_path, capsys, monkeypatch):
    from flashtrain.training import tensors

    honest = tensors.TensorStore.read

    def dishonest(self, name, port):
        awaited = honest(self, name, port)
        if name == "weights/output":
            finish = awaited._finish

            def flip(array):
                array = finish(array)
                array.view("uint32")[3] ^= 1
                return array

            awaited._finish = flip
        return awaited

    monkeypatch.setattr(tensors.TensorStore, "read", dishonest)
    assert main([*SHORT, "--output", str(tmp_path)]) == 1
    assert "DIFFERENT" in capsys.readouterr().out
