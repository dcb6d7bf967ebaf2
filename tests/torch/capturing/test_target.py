"""Models by name: functions of the user, and the commands that capture them."""

import json
import re
import sys

import pytest

from flashtrain.cli.main import main
from flashtrain.spec import FlashtrainError
from flashtrain.torch.capturing.target import capture_target
from flashtrain.training.offload import load_profile
from flashtrain.training.sequence import load_sequence

SOURCE = """\
import torch
from torch import nn


def tied(batch=4):
    encoder, decoder = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
    decoder.weight = encoder.weight
    return nn.Sequential(encoder, nn.Tanh(), decoder), torch.Tensor.sum, (torch.rand(batch, 6),)


def fixed():
    return nn.Linear(6, 2), lambda output: output.sum(), {"input": torch.rand(3, 6)}


def pair():
    return 1, 2


def no_model():
    return "model", torch.sum, torch.rand(2)


def fails():
    raise ValueError("not today")


class Stochastic(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.inner = nn.Linear(6, 6)
        self.rates = [rate.item() for rate in torch.linspace(0, 0.1, 3, device=device)]

    def forward(self, x):
        return self.inner(x)


def rates(device=None):
    return nn.Sequential(Stochastic(device)), torch.Tensor.sum, torch.rand(3, 6)


def rates_of_cpu():
    return rates("cpu")


def fails_later():
    return nn.Linear(6, 2), torch.Tensor.sum, torch.rand(3, 7)
"""


@pytest.fixture(autouse=True)
def _modules(tmp_path, monkeypatch):
    """The modules `captured_nets` and `captured_broken` can be imported."""
    (tmp_path / "captured_nets.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "captured_broken.py").write_text("import a_package_that_is_not_there\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("captured_nets", "captured_broken"):
        sys.modules.pop(name, None)


def test_module_of_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "captured_here.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    path = list(sys.path)
    assert capture_target("captured_here:tied").recording.batch == 4
    assert sys.path == path
    sys.modules.pop("captured_here")


def test_function():
    recording = capture_target("captured_nets:tied").recording
    assert (recording.model, recording.batch, recording.parameter_count) == ("captured_nets:tied", 4, 36)
    assert capture_target("captured_nets:tied", batch=9).recording.batch == 9
    assert capture_target("captured_nets:fixed").recording.batch == 3


def test_meta_keeps_what_is_shared():
    real, meta = (capture_target("captured_nets:tied", meta=meta).recording for meta in (False, True))
    assert meta.parameters == real.parameters
    assert meta.operations == real.operations


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "captured_nets:nope",
            "captured_nets has no function 'nope'; its functions: tied, fixed, pair",
        ),
        ("captured_nets:", "'captured_nets:': expected MODULE:FUNCTION"),
        ("nowhere:f", "nowhere:f: no module 'nowhere'; expected one in"),
        ("captured_nets.inner:f", "no module 'captured_nets.inner'"),
        ("captured_broken:f", "importing it raised ModuleNotFoundError: No module named 'a_package_that_is"),
        ("gpt7", "'gpt7': expected MODULE:FUNCTION, or one of gpt2, gpt2-medium"),
        ("captured_nets:pair", "captured_nets:pair returns 2 values; expected model, loss and inputs"),
        ("captured_nets:no_model", "the model is a str; expected a torch.nn.Module"),
        ("captured_nets:fails", "captured_nets:fails: building it raised ValueError: not today"),
        (
            "captured_nets:fails_later",
            "fails_later: its iteration raised RuntimeError: mat1 and",
        ),
    ],
)
def test_mistakes(target, message, capsys):
    assert main(["sequence", "capture", target, "--out", "x.json"]) == 2
    error = capsys.readouterr().err.splitlines()
    assert message in error[-1]
    assert len(error) == 2  # the step and the error


def test_values_that_are_needed_to_build_a_model(capsys):
    command = ["sequence", "capture", "--out", "x.json", "--meta"]
    assert main([*command, "captured_nets:rates"]) == 2
    message = (
        "captured_nets:rates: building module Stochastic: aten._local_scalar_dense.default: Tensor.item()"
    )
    error = capsys.readouterr().err.splitlines()[-1]
    assert message in error
    assert error.endswith('expected values from tensors of device="cpu", or a capture of real tensors')
    assert main([*command, "captured_nets:fails"]) == 2
    assert "captured_nets:fails: building it raised ValueError: not today" in capsys.readouterr().err


def test_values_of_the_cpu_to_build_a_model():
    real, meta = (
        capture_target(f"captured_nets:{name}", meta=meta).recording
        for name, meta in (("rates", False), ("rates_of_cpu", True))
    )
    assert meta.operations == real.operations


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--batch", "5"], "captured_nets:fixed: a batch of 5, but no parameter `batch`; expected one"),
        (["--bandwidth", "1e9"], "--bandwidth without --flops; expected both"),
        (["--flops", "1e9", "--measure", "1"], "--flops with --measure; expected one of them"),
        (["--meta", "--measure", "1"], "durations on the meta device; expected real tensors"),
    ],
)
def test_mistaken_options(options, message, capsys):
    assert main(["sequence", "capture", "captured_nets:fixed", "--out", "x.json", *options]) == 2
    assert message in capsys.readouterr().err


def test_sequence_capture_show_replay_and_platform(tmp_path, capsys):
    path = tmp_path / "s.json"
    options = [
        "--batch",
        "8",
        "--flops",
        "1e9",
        "--bandwidth",
        "1e9",
        "--optimizer",
        "sgd",
        "--update",
        "core",
    ]
    assert main(["sequence", "capture", "captured_nets:tied", *options, "--out", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    sequence = load_sequence(path)
    assert (document["batch"], document["parameters"]) == (8, 36)
    assert document["steps"] == sequence.iteration_steps
    assert (sequence.network, sequence.optimizer, sequence.update) == ("captured_nets:tied", "sgd", "core")
    assert main(["sequence", "show", str(path), "--steps"]) == 0
    assert "append  saved/1" in capsys.readouterr().out
    assert main(["sequence", "replay", str(path), "--preset", "tiny", "--link", "functional"]) == 0
    assert main(["sequence", "replay", str(path), "--preset", "tiny", "--link", "model"]) == 0
    assert main(["platform", "run", str(path), "--storage", "fms-rates", "--preset", "small"]) == 0


def test_offload_profile(tmp_path, capsys):
    path = tmp_path / "p.json"
    options = ["--ratios", "--measure", "1", "--state", "dies", "--out", str(path), "--json"]
    assert main(["offload", "profile", "captured_nets:tied", *options]) == 0
    document, profile = json.loads(capsys.readouterr().out), load_profile(path)
    assert document["fingerprint"] == profile.fingerprint
    assert document["seconds"] == profile.seconds > 0
    assert document["uncounted"] == profile.uncounted and profile.uncounted["aten.tanh"] > 0
    assert all("window32" in tensor.ratios for tensor in profile.tensors)
    assert main(["offload", "profile", "captured_nets:tied", "--meta", "--out", str(path)]) == 0
    text = capsys.readouterr().out
    assert "s by 1.4e+13 FLOP/s and 9e+11 bytes/s" in text
    assert re.search(r"no formula for FLOPs, with their part of all bytes: .*aten\.tanh \d+\.\d%", text)
    # The same but for two arrays of Adam, of 36 elements each.
    assert load_profile(path).resident_bytes == profile.resident_bytes + 2 * 4 * 36


def test_without_pytorch(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("flashtrain.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["sequence", "capture", "captured_nets:tied", "--out", "x.json"]) == 2
    error = capsys.readouterr().err
    assert error == (
        "flashtrain sequence: PyTorch is not installed; expected the extra: pip install 'flashtrain[torch]'\n"
    )
    with pytest.raises(FlashtrainError) as raised:
        __import__("flashtrain.torch")
    assert isinstance(raised.value, ImportError)
