"""The sizes of the poster's models, captured anew: the package's file is what the definitions give."""

from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch
from torch import nn

from flashtrain.checkpoint.models.model_file import MODELS_FILE, load_models
from flashtrain.cli.main import main
from flashtrain.torch import CaptureError, capture
from flashtrain.torch.capturing import model_sizes
from flashtrain.torch.networks import TrainingCase

needs_definitions = pytest.mark.skipif(
    None in map(find_spec, ("torchvision", "transformers")), reason="needs the extra `networks`"
)


@needs_definitions
@pytest.mark.parametrize("name", ["bert-base", "gpt2", "resnet18", "alexnet"])
def test_a_model_of_the_file(name):
    expected = {sizes.name: sizes for sizes in load_models(MODELS_FILE).models}
    assert model_sizes.model_sizes(name) == expected[name]


@needs_definitions
@pytest.mark.long
def test_the_file(tmp_path, capsys):
    path = tmp_path / "models.json"
    assert main(["checkpoint", "models", "--capture", str(path)]) == 0
    assert load_models(path).models == load_models(MODELS_FILE).models
    assert "gpt-neo-1.3b  1,315,575,808      316" in capsys.readouterr().out


class Statistics(nn.Module):
    """A buffer in checkpoints and one outside, and a weight that two modules share."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("kept", torch.zeros(3))
        self.register_buffer("scratch", torch.zeros(100), persistent=False)

    def forward(self, x):
        return self.second(self.first(x)) + self.kept.sum()


def test_a_model_of_our_own(monkeypatch):
    def build(name, batch):
        return TrainingCase(Statistics(), torch.Tensor.sum, torch.rand(batch, 4))

    monkeypatch.setattr(model_sizes, "build", build)
    sizes = model_sizes.model_sizes("statistics")
    assert (sizes.parameters, sizes.tensors, sizes.buffer_bytes) == (16, 1, 12)
    # Two products forward, two for the weight, and one for the input of the second.
    assert sizes.flops_per_example == 5 * 2 * 16
    assert sizes.workspace.fixed >= 400


def test_flops_that_are_not_proportional():
    recordings = [capture(nn.Linear(4, 4), torch.Tensor.sum, torch.rand(b, 4)).recording for b in (2, 4)]
    assert model_sizes._flops_per_example(recordings) > 0
    odd = [recordings[0], replace(recordings[1], batch=3)]
    with pytest.raises(CaptureError, match="expected a multiple of the batch"):
        model_sizes._flops_per_example(odd)
