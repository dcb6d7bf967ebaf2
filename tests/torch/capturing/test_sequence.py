"""Captured sequences: their steps, their traffic, and that they can be carried out."""

import pytest
import torch
from torch import nn

from flashtrain.host import open_device
from flashtrain.platform.models import FmsRates
from flashtrain.platform.nodes import sharing_platform
from flashtrain.platform.report import run_iteration
from flashtrain.spec import preset
from flashtrain.torch import Processor, capture
from flashtrain.training.errors import SequenceError
from flashtrain.training.flash_training import replay
from flashtrain.training.optimizers import SGD, Adam
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Operation,
    Read,
    Reset,
    StreamRole,
    Update,
    UpdatePlace,
    load_sequence,
    save_sequence,
    summarise,
)
from flashtrain.training.tensors import DeviceStorage

from .models import BATCH, HIDDEN, INPUTS, MODELS, mlp


def words(steps):
    for step in steps:
        match step:
            case Append() | Read():
                yield f"{type(step).__name__.lower()} {step.tensor}"
            case Compute():
                yield f"{step.operation} {step.layer}".strip()
            case Initialise() | Update():
                yield f"{type(step).__name__.lower()} {' '.join(step.tensors)}"
            case Reset():
                yield f"reset {step.stream}"


FORWARD = [
    "load", "append input/0", "append input/1",
    "read input/0", "read weights/0", "forward 0",
    "forward 1", "append saved/1",
    "read weights/2", "forward 2",
    "read input/1", "loss", "append saved/2", "append saved/4",
]  # fmt: skip
BACKWARD = [
    "read input/1", "read saved/2", "read saved/4", "backward (loss)",
    "read saved/1", "read weights/2", "backward 2",
    "backward 1",
    "read input/0", "backward 0",
]  # fmt: skip


def test_steps_with_updates_on_the_dies():
    sequence = capture(*mlp(), name="mlp").sequence()
    assert (sequence.network, sequence.optimizer, sequence.batch) == ("mlp", "adam", BATCH)
    initialise = ["initialise 0", "initialise 2", "initialise weights/0 weights/2"]
    assert list(words(sequence.prologue)) == initialise
    update = ["constants", "update weights/0 weights/2", "reset activations"]
    assert list(words(sequence.iteration)) == [*FORWARD, *BACKWARD, *update]
    assert list(words(sequence.epilogue)) == [
        f"{step}{name}"
        for name in ("0", "2")
        for step in ("read weights/", "publish ", "append trained/", "read trained/", "collect ")
    ]


def test_steps_with_updates_by_the_core():
    sequence = capture(*mlp()).sequence(Adam(), UpdatePlace.CORE)

    def update(layer):
        names = [f"weights/{layer}", f"state/{layer}/m", f"state/{layer}/v"]
        return [*(f"read {n}" for n in names), f"update {layer}", *(f"append {n}" for n in names)]

    expected = [*FORWARD, *BACKWARD]
    at = expected.index("backward 2") + 1
    assert list(words(sequence.iteration)) == [
        *expected[:at], *update(2), *expected[at:], *update(0), "reset activations",
    ]  # fmt: skip
    assert sequence.update is UpdatePlace.CORE


def test_shared_weights_are_one_tensor():
    sequence = capture(*MODELS["text"]()).sequence()
    assert {t.name for t in sequence.tensors if t.stream is StreamRole.STATE} == {
        "weights/embedding", "weights/attention.norm", "weights/attention.qkv", "weights/attention.out",
    }  # fmt: skip
    users = [step.layer for step in sequence.iteration if isinstance(step, Compute)
             and "weights/embedding" in step.takes]  # fmt: skip
    assert users == ["embedding", "head", "head"]
    given = [step.layer for step in sequence.iteration if isinstance(step, Compute)
             and "gradient/embedding" in step.gives]  # fmt: skip
    assert given == ["embedding"]


def test_frozen_weights_are_read_and_not_updated():
    model, loss, inputs = mlp()
    model[0].requires_grad_(False)
    model.unused = nn.Linear(2, 2)
    model.forward = lambda x: model[2](model[1](model[0](x)))
    sequence = capture(model, loss, inputs).sequence()
    roles = {t.name: t.stream for t in sequence.tensors if t.name.startswith("weights/")}
    assert roles == {
        "weights/0 (frozen)": StreamRole.WEIGHTS, "weights/2": StreamRole.STATE,
        "weights/unused (frozen)": StreamRole.WEIGHTS,
    }  # fmt: skip
    steps = list(words(sequence.iteration))
    assert "read weights/0 (frozen)" in steps
    assert "update weights/2" in steps


def test_work_of_steps():
    captured = capture(*mlp())
    processor, passes = Processor(1e9, 1e8), (Operation.FORWARD, Operation.LOSS, Operation.BACKWARD)
    durations = [
        step.duration(1e9)
        for step in captured.sequence(processor=processor).iteration
        if isinstance(step, Compute) and step.operation in passes
    ]
    assert durations == pytest.approx([each.seconds for each in captured.profile(processor).operations])
    plain = [step for step in captured.sequence().iteration if isinstance(step, Compute)]
    assert sum(step.flops for step in plain) == captured.recording.flops
    assert not any(step.seconds for step in plain)
    measured = capture(*mlp(), measured=1)
    steps = [step for step in measured.sequence().iteration if isinstance(step, Compute)]
    assert sum(step.seconds for step in steps) == pytest.approx(measured.profile().seconds)
    assert not any(step.flops for step in steps)


def test_dtypes_that_a_sequence_does_not_have_are_bytes():
    model, loss, inputs = mlp()
    sequence = capture(model.bfloat16(), loss, inputs.bfloat16()).sequence()
    assert str(sequence.by_name["saved/1"].spec) == f"bfloat16[{BATCH}, {HIDDEN}]"
    assert str(sequence.by_name["input/1"].spec) == f"uint8[{8 * BATCH}]"
    assert str(sequence.by_name["weights/0"].spec) == f"float32[{INPUTS * HIDDEN + HIDDEN}]"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("update", "overlap"), [(UpdatePlace.DIE, False), (UpdatePlace.DIE, True), (UpdatePlace.CORE, False)]
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_captured_sequence_is_replayed(name, update, overlap, device, tmp_path):
    captured = capture(*MODELS[name](device))
    saved = captured.sequence(SGD() if name == "mlp" else Adam(), update, overlap=overlap)
    assert saved.overlaps == overlap
    save_sequence(saved, tmp_path / "sequence.json")
    sequence = load_sequence(tmp_path / "sequence.json")
    assert sequence == saved
    with open_device("tiny", node=update.node) as opened:
        run = replay(sequence, 2, DeviceStorage.on(opened))
    activations = sum(save.bytes for save in captured.recording.saves if save.input is None)
    inputs = sum(each.bytes for each in captured.recording.inputs)
    assert run.traffic[StreamRole.ACTIVATIONS].appended_bytes == 2 * activations
    assert run.traffic[StreamRole.ACTIVATIONS].read_bytes == 2 * activations
    assert run.traffic[StreamRole.INPUTS].appended_bytes == 2 * inputs
    assert (run.updates is None) == (update is UpdatePlace.CORE)


def test_updates_that_overlap_are_those_of_the_dies():
    with pytest.raises(SequenceError, match="those of the dies; expected die"):
        capture(*mlp()).sequence(Adam(), UpdatePlace.CORE, overlap=True)


@pytest.mark.parametrize("overlap", [False, True])
def test_a_captured_sequence_plays_on_a_platform(overlap):
    with torch.device("meta"):
        model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(4)))
        captured = capture(model, torch.Tensor.sum, torch.empty(65536, 4096))
    sequence = captured.sequence(overlap=overlap)
    config = preset("behemoth")
    report = run_iteration(sequence, sharing_platform(FmsRates(config), flops_per_second=1e15))
    stored = summarise(sequence, sequence.iteration, config)[StreamRole.ACTIVATIONS].appended_bytes
    assert stored == sum(save.bytes for save in captured.recording.saves if save.input is None)
    compute = captured.recording.flops / 1e15
    assert report.document()["computing_seconds"] == pytest.approx(compute)
    assert report.document()["seconds"] > max(compute, stored / config.net_channel_bytes_per_second)
