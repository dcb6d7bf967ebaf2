"""A network from captures of two batches equals a capture of any other."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from flashtrain.cli.main import main
from flashtrain.torch import CaptureError, Processor, capture
from flashtrain.torch.capturing.network import captured_network
from flashtrain.training.offload.network import STATE_BYTES, UPDATE
from flashtrain.training.offload.network_file import load_network, save_network

from .models import CLASSES, labels


def images(batch):
    with torch.device("meta"):
        model = nn.Sequential(
            nn.Conv2d(3, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.Flatten(),
            nn.Linear(8 * 36, CLASSES),
        )
        target = labels(batch, "meta")
        return capture(
            model, lambda out: cross_entropy(out, target), torch.rand(batch, 3, 8, 8), name="images"
        )


def test_any_batch(tmp_path):
    network = captured_network(images(32).recording, images(64).recording)
    save_network(network, tmp_path / "network.json")
    assert load_network(tmp_path / "network.json") == network
    processor = Processor(1e9, 1e9)
    expected, found = images(100).profile(processor), network.profile(100, processor)
    assert found.tensors == expected.tensors
    assert found.operations[:-1] == expected.operations
    assert found.operations[-1].name == UPDATE
    recording = images(100).recording
    resident = STATE_BYTES * recording.parameter_count + recording.buffer_bytes + recording.workspace_bytes
    assert found.resident_bytes == resident


def test_mistakes():
    with pytest.raises(CaptureError, match="images: two captures of batch 4; expected different batches"):
        captured_network(images(4).recording, images(4).recording)
    other = capture(nn.Linear(4, 4), torch.Tensor.sum, torch.rand(8, 4)).recording
    with pytest.raises(CaptureError, match="differ between batches 4 and 8; expected that only sizes do"):
        captured_network(images(4).recording, other)


def test_command(tmp_path, monkeypatch, capsys):
    (tmp_path / "captured_linear.py").write_text(
        "from torch import Tensor, nn, rand\n"
        "def linear(batch):\n"
        "    return nn.Linear(4, 4), Tensor.sum, rand(batch, 4)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "network.json"
    assert (
        main(["offload", "network", "captured_linear:linear", "--batches", "2", "4", "--out", str(path)]) == 0
    )
    assert "captured_linear:linear, batch 4: 20 parameters" in capsys.readouterr().out
    assert load_network(path).profile(6).batch == 6
