"""The nine models: as published, as their definitions have them, and as their file."""

import json

import pytest

from flashtrain.checkpoint.errors import TrainingModelError
from flashtrain.checkpoint.models.model_file import MODELS_FILE, load_models, save_models
from flashtrain.checkpoint.models.training_model import BATCHES, MODELS, model_named, training_model
from flashtrain.cli.main import main
from flashtrain.reading import InputError
from flashtrain.training.optimizers import SGD, Adam, Momentum

ACCELERATOR_BYTES = 24e9

PUBLISHED = {
    # Devlin et al. 2019: 110 M and 340 M, rounded; here with the heads of both tasks.
    "bert-base": 110_106_428,
    "bert-large": 336_226_108,
    # The published files of OpenAI and EleutherAI.
    "gpt2": 124_439_808,
    "gpt-neo-1.3b": 1_315_575_808,
    # torchvision's table of its weights; GoogLeNet's 6,624,904 are without the auxiliary classifiers.
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "googlenet": 6_624_904 + 2 * 3_189_992,
    "alexnet": 61_100_840,
    "vgg11": 132_863_336,
}

FORWARD_GFLOP = {"resnet18": 1.814, "resnet50": 4.089, "alexnet": 0.714, "vgg11": 7.609}
"""Multiplications with their additions of an image, in torchvision's table."""


def test_parameters_are_those_that_were_published():
    assert {name: model.parameters for name, model in MODELS.items()} == PUBLISHED
    # An auxiliary classifier of GoogLeNet: a convolution with its batch norm, and two dense layers.
    inputs = 512 + 528
    assert 2 * 3_189_992 == inputs * 128 + 2 * (2 * 128 + 2048 * 1024 + 1024 + 1024 * 1000 + 1000)


@pytest.mark.parametrize("name", FORWARD_GFLOP)
def test_flops_of_classifiers(name):
    """Backward takes twice the forward pass, but for the gradient of the images."""
    share = MODELS[name].flops_per_example / (6e9 * FORWARD_GFLOP[name])
    assert 0.93 < share < 1


def test_flops_of_transformers():
    """6 FLOPs a parameter and token, beside attention and the tables that nothing is multiplied with."""
    for name, tokens in (("bert-base", 512), ("bert-large", 512), ("gpt2", 1024), ("gpt-neo-1.3b", 2048)):
        model = MODELS[name]
        assert 0.75 < model.flops_per_example / (6 * model.parameters * tokens) < 1.3


def test_state():
    gpt2, resnet = MODELS["gpt2"], MODELS["resnet18"]
    assert gpt2.state_bytes() == 12 * gpt2.parameters
    # Batch norms of 4,800 channels: means and variances, and a counter of 8 bytes for each of the 20.
    assert resnet.buffer_bytes == 2 * 4 * 4800 + 20 * 8
    assert resnet.state_bytes() == 12 * resnet.parameters + resnet.buffer_bytes
    assert resnet.state_bytes(Adam()) - resnet.state_bytes(Momentum()) == 4 * resnet.parameters
    assert resnet.state_bytes(SGD()) == resnet.weight_bytes


@pytest.mark.parametrize("name", BATCHES)
def test_batches_are_the_largest_that_fit(name):
    sizes = next(each for each in load_models(MODELS_FILE).models if each.name == name)
    fitting = [1 << n for n in range(9) if training_model(sizes, 1 << n).memory_bytes() <= ACCELERATOR_BYTES]
    assert BATCHES[name] == max(fitting, default=1)
    assert bool(fitting) == (name != "gpt-neo-1.3b")
    model = training_model(sizes, BATCHES[name])
    assert model == MODELS[name]
    assert model.memory_bytes() > 16 * model.parameters + model.saved_bytes > model.saved_bytes > 0


def test_order_is_the_posters():
    assert list(MODELS) == list(BATCHES) == list(PUBLISHED)


def test_file(tmp_path):
    captured = load_models(MODELS_FILE)
    save_models(captured, tmp_path / "models.json")
    assert (tmp_path / "models.json").read_bytes() == MODELS_FILE.read_bytes()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "models", 'format: expected "flashtrain-models", got "models"'),
        ("parameters", 0, r"models\[0\].parameters: expected an integer of at least 1, got 0"),
        ("saved", [1], r"models\[0\].saved: expected two integers, a and b of a \+ b times the batch"),
        ("batch", 8, r"models\[0\].batch: unknown; expected only name, parameters"),
    ],
)
def test_files_that_are_wrong(key, value, message, tmp_path):
    document = json.loads(MODELS_FILE.read_text(encoding="utf-8"))
    (document if key in document else document["models"][0])[key] = value
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_models(path)


def test_mistakes():
    with pytest.raises(TrainingModelError, match="no model 'gpt4'; expected one of bert-base, bert-large"):
        model_named("gpt4")
    sizes = load_models(MODELS_FILE).models[0]
    with pytest.raises(TrainingModelError, match="bert-base: the batch is 0; expected at least 1"):
        training_model(sizes, 0)


def test_command(capsys):
    assert main(["checkpoint", "models", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["models"]["vgg11"]["checkpoint_bytes"] == 12 * PUBLISHED["vgg11"]
    assert document["source"].startswith("torch ")
