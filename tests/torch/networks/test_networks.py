"""Networks of the literature: parameters and FLOPs as published, or in closed form."""

import importlib
import math
import sys
from importlib.util import find_spec

import pytest
import torch

from flashtrain.torch import CaptureError, MissingExtra
from flashtrain.torch.capturing.target import capture_target
from flashtrain.torch.networks import NETWORKS, build
from flashtrain.torch.networks.definitions import definitions
from flashtrain.training.sequence import load_sequence, save_sequence

transformers = pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers")
torchvision = pytest.mark.skipif(find_spec("torchvision") is None, reason="needs torchvision")

GPT2 = {  # layers, hidden, and millions of parameters (Radford et al. 2019; the files that were published)
    "gpt2": (12, 768, 124.4),
    "gpt2-medium": (24, 1024, 354.8),
    "gpt2-large": (36, 1280, 774.0),
    "gpt2-xl": (48, 1600, 1557.6),
}


@transformers
@pytest.mark.parametrize("name", GPT2)
def test_gpt2_parameters(name):
    with torch.device("meta"):
        model = build(name, 1).model
    layers, hidden, published = GPT2[name]
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters == layers * (12 * hidden**2 + 13 * hidden) + (50257 + 1024 + 2) * hidden
    assert parameters / 1e6 == pytest.approx(published, abs=0.05)


@transformers
def test_gpt2_flops_and_saved_bytes():
    batch, t, layers, h, vocabulary = 2, 1024, 12, 768, 50257
    captured = capture_target("gpt2", batch=batch)
    recording = captured.recording
    forward = 2 * batch * t * (12 * layers * h**2 + vocabulary * h) + 4 * layers * batch * t**2 * h
    assert sum(each.flops for each in recording.operations if not each.backward) == forward
    assert recording.flops == 3 * forward
    assert 200 < len(recording.operations) < 400
    # Elements of a layer: softmax and dropped weights of all heads, and a byte of mask for each.
    block = [save for save in recording.saves if save.module == "transformer.h.0.attn"]
    weights = [save for save in block if save.bytes >= batch * 12 * t**2]
    assert sorted(save.element_bytes for save in weights) == [1, 4, 4]
    assert captured.sequence().unrolled().iteration_steps > len(recording.operations)


@transformers
def test_gpt_neo_parameters_and_flops():
    recording = capture_target("gpt-neo-1.3b", batch=1).recording
    t, layers, h, vocabulary = 2048, 24, 2048, 50257
    # Of the published file; query, key and value have no biases, and the head is the embedding.
    assert recording.parameter_count == layers * (12 * h**2 + 10 * h) + (vocabulary + t + 2) * h
    forward = 2 * t * (12 * layers * h**2 + vocabulary * h) + 4 * layers * t**2 * h
    assert sum(each.flops for each in recording.operations if not each.backward) == forward


@transformers
@pytest.mark.parametrize(
    ("name", "layers", "h", "millions"), [("bert-base", 12, 768, 110.1), ("bert-large", 24, 1024, 336.2)]
)
def test_bert_parameters_and_flops(name, layers, h, millions):
    recording = capture_target(name, batch=1).recording
    t, vocabulary = 512, 30522
    # The published 110 M and 335 M (340 M in the paper), and the head of the second task.
    assert recording.parameter_count / 1e6 == pytest.approx(millions, abs=0.05)
    blocks = 2 * t * 12 * layers * h**2 + 4 * layers * t**2 * h
    heads = 2 * t * (h**2 + vocabulary * h) + 2 * (h**2 + 2 * h)
    assert sum(each.flops for each in recording.operations if not each.backward) == blocks + heads


@torchvision
@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("resnet18", 11.7), ("resnet50", 25.6), ("resnet152", 60.2), ("alexnet", 61.1), ("vgg11", 132.9),
        ("densenet121", 8.0), ("densenet161", 28.7),
        ("vit-b-16", 86.6), ("vit-l-16", 304.3),
    ],
)  # fmt: skip
def test_parameters_of_classifiers(name, millions):
    with torch.device("meta"):
        model = build(name, 1).model
    parameters = sum(parameter.numel() for parameter in model.parameters())
    assert parameters / 1e6 == pytest.approx(millions, abs=0.05)


@torchvision
@pytest.mark.parametrize("name", ["resnet50", "densenet121", "vit-b-16"])
def test_flops_of_classifiers(name):
    """Beside those that torchvision publishes, in billions of multiplications with their additions."""
    models = definitions("torchvision.models")
    recording = capture_target(name, batch=1).recording
    published = models.get_model_weights(name.replace("-", "_")).IMAGENET1K_V1.meta["_ops"]
    forward = sum(each.flops for each in recording.operations if not each.backward)
    assert forward / 2e9 == pytest.approx(published, abs=0.006)
    assert 0.95 < recording.flops / (3 * forward) < 1


@torchvision
def test_googlenet_has_its_auxiliary_classifiers():
    models = definitions("torchvision.models")
    with torch.device("meta"):
        case = build("googlenet", 1)
    auxiliary = sum(p.numel() for name, p in case.model.named_parameters() if name.startswith("aux"))
    published = models.GoogLeNet_Weights.IMAGENET1K_V1.meta["num_params"]
    assert sum(parameter.numel() for parameter in case.model.parameters()) == published + auxiliary
    logits = torch.zeros(1, 1000)
    output = models.GoogLeNetOutputs(logits, logits, logits)
    case = build("googlenet", 1)
    assert case.loss(output).item() == pytest.approx(1.6 * math.log(1000))


@torchvision
def test_resnet_saves_each_activation_once(tmp_path):
    captured = capture_target("resnet50", batch=2)
    saves = captured.recording.saves
    # 53 batch norms save input, mean and deviation; 49 ReLUs their output, which the convolutions share.
    # One more ReLU output is the pooling's, whose result and indices are saved; then the flat features.
    by_operation = {}
    for save in saves:
        by_operation[save.operation] = by_operation.get(save.operation, 0) + 1
    assert by_operation["aten.relu_.default"] == 49
    assert by_operation["aten.convolution.default"] == 53
    assert by_operation["aten.max_pool2d_with_indices.default"] == 2
    assert all(save.relu == (save.operation == "aten.relu_.default") for save in saves)
    save_sequence(captured.sequence(), tmp_path / "s.json")
    assert load_sequence(tmp_path / "s.json") == captured.sequence()


def test_unknown_names():
    with pytest.raises(CaptureError, match="no network 'gpt3'; expected one of gpt2, gpt2-medium"):
        build("gpt3", 1)
    with pytest.raises(CaptureError, match="gpt2: the batch is 0; expected at least 1"):
        build("gpt2", 0)


@pytest.mark.parametrize(("name", "package"), [("gpt2", "transformers"), ("resnet50", "torchvision")])
def test_without_definitions(name, package, monkeypatch):
    for module in [module for module in sys.modules if module.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingExtra, match=rf"{package} is not installed; expected the extra: .*\[networks\]"
    ):
        build(name, 1)
    assert name in NETWORKS


@torchvision
def test_operators_are_defined_for_the_import():
    assert importlib.import_module("torchvision").models is definitions("torchvision.models")
    assert hasattr(torch.ops.torchvision, "nms")
