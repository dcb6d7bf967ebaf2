"""Capture of a model: operations, FLOPs, saved storages and where they are needed."""

import pytest
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from flashtrain.perf.codec.ratios import tensor_ratios
from flashtrain.torch import Capture, Processor, capture
from flashtrain.training.offload import load_profile, save_profile
from flashtrain.training.offload.processor import Work
from flashtrain.training.optimizers import Adam

from .models import BATCH, CLASSES, HIDDEN, INPUTS, MODELS, images, mlp


def words(recording):
    return [f"{each.name}{' backward' if each.backward else ''}" for each in recording.operations]


def test_mlp_operations_and_flops():
    recording = capture(*mlp()).recording
    assert words(recording) == [
        "0", "1", "2", "(loss)",
        "(loss) backward", "2 backward", "1 backward", "0 backward",
    ]  # fmt: skip
    first, second = 2 * BATCH * INPUTS * HIDDEN, 2 * BATCH * HIDDEN * CLASSES
    # The first layer has no gradient of its input.
    assert [each.flops for each in recording.operations] == [first, 0, second, 0, 0, 2 * second, 0, first]
    assert recording.batch == BATCH
    assert recording.parameter_count == INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
    assert [each.weights for each in recording.operations if "2" in each.name] == [("2",), ("2",)]
    assert [each.gradients for each in recording.operations][4:] == [(), ("2",), (), ("0",)]


def test_mlp_saves():
    images, hidden, log, target, total = capture(*mlp()).recording.saves
    assert (images.input, images.made, images.uses) == (0, 0, (7,))
    assert (hidden.name, hidden.bytes, hidden.shape) == ("saved/1", 4 * BATCH * HIDDEN, (BATCH, HIDDEN))
    assert (hidden.made, hidden.released, hidden.uses, hidden.relu) == (1, 2, (5, 6), True)
    assert (hidden.module, hidden.operation) == ("1", "aten.relu.default")
    assert (log.made, log.uses, log.relu) == (3, (4,), False)
    assert (target.input, target.element_bytes, target.dtype) == (1, 8, "int64")
    assert (total.bytes, total.module) == (4, "(loss)")


def saved_by_hooks(model, loss, inputs):
    """Sizes of the storages that autograd saves, in order, each once, without parameters and buffers."""
    ours = [each.untyped_storage() for each in (*model.parameters(), *model.buffers())]
    found = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.numel() and all(storage._cdata != other._cdata for other in (*ours, *found)):
            found.append(storage)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        loss(model(inputs))
    return [storage.nbytes() for storage in found]


@pytest.mark.parametrize("name", MODELS)
def test_saves_are_those_of_hooks(name):
    case = MODELS[name]()
    recording = capture(*case).recording
    assert [save.bytes for save in recording.saves] == saved_by_hooks(*case)
    assert [save.number for save in recording.saves] == list(range(len(recording.saves)))


@pytest.mark.parametrize("name", MODELS)
def test_meta_records_the_same(name):
    real, meta = (capture(*MODELS[name](device)).recording for device in ("cpu", "meta"))
    assert real.operations == meta.operations
    assert real.saves == meta.saves
    assert real.parameters == meta.parameters


def test_meta_has_any_size():
    width = 1 << 17
    with torch.device("meta"):
        model = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(4)))
        recording = capture(model, torch.Tensor.sum, torch.empty(1024, width)).recording
    assert recording.parameter_count == 4 * width**2
    assert recording.flops == (3 * 4 - 1) * 2 * 1024 * width**2


def test_dropout_on_meta_has_a_mask_of_bytes():
    model, x = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1)), torch.zeros(4, 8)
    on_cpu = capture(model, torch.Tensor.sum, x).recording.saves[-1]
    on_meta = capture(model.to("meta"), torch.Tensor.sum, x.to("meta")).recording.saves[-1]
    assert (on_cpu.dtype, on_cpu.bytes) == ("float32", 4 * 32)
    assert (on_meta.dtype, on_meta.bytes) == ("bool", 32)


def test_durations_of_a_processor():
    recording = capture(*mlp()).recording
    processor = Processor(flops_per_second=1e9, bytes_per_second=1e8)
    profile = capture(*mlp()).profile(processor)
    for each, timed in zip(recording.operations, profile.operations, strict=True):
        assert timed.seconds == sum(max(w.flops / 1e9, w.bytes / 1e8) for w in each.work)
        assert timed.seconds == pytest.approx(each.flops / 1e9 + processor.beyond_flops(each.work))
    # A linear layer reads bias, input and weights, and writes its result.
    elements = HIDDEN + BATCH * INPUTS + INPUTS * HIDDEN + BATCH * HIDDEN
    assert recording.operations[0].work == (Work(2 * BATCH * INPUTS * HIDDEN, 4 * elements),)


def test_bytes_of_gathers_and_allocations():
    model, ids = nn.Embedding(1000, 8), torch.zeros(5, dtype=torch.long)
    forward, *_ = capture(model, torch.Tensor.sum, ids).recording.operations
    assert forward.work == (Work(0, 5 * 8 + 2 * 5 * 8 * 4),)

    class Filled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(4))

        def forward(self, x):
            return torch.empty_like(x).copy_(x) * self.weight

    forward, *_ = capture(Filled(), torch.Tensor.sum, torch.rand(4)).recording.operations
    assert [work.bytes for work in forward.work] == [3 * 16, 3 * 16]


def test_names_that_modules_share():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.Model, self.loss = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            return self.loss(self.Model(x))

    recording = capture(Model(), torch.Tensor.sum, torch.rand(2, 4)).recording
    assert words(recording)[:3] == ["Model", "loss", "(loss)"]


def test_measured_durations():
    captured = capture(*mlp(), measured=3)
    assert captured.recording.measured
    assert all(0 < each.seconds < 10 for each in captured.recording.operations)
    assert captured.profile().seconds == sum(each.seconds for each in captured.recording.operations)


def test_model_is_left_as_it_was():
    model, loss, inputs = images()
    loss(model(inputs)).backward()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    gradients = [parameter.grad for parameter in model.parameters()]
    copies = [gradient.clone() for gradient in gradients]
    random = torch.random.get_rng_state()
    capture(model, lambda output: loss(output + torch.rand_like(output)), inputs)
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())
    assert all(p.grad is g for p, g in zip(model.parameters(), gradients, strict=True))
    assert all(map(torch.equal, gradients, copies))
    assert torch.equal(torch.random.get_rng_state(), random)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_recomputes(reentrant):
    model, loss, inputs = mlp()
    plain = capture(model, loss, inputs).recording

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            return checkpoint(self.inner, x.requires_grad_(reentrant), use_reentrant=reentrant)

    recording = capture(Checkpointed(), loss, inputs).recording
    assert "inner.0 (recomputed) backward" in words(recording)
    first, second = 2 * BATCH * INPUTS * HIDDEN, 2 * BATCH * HIDDEN * CLASSES
    # Reentrant: all of it once more, and the gradient of the input. Else it ends when all is saved again,
    # which is before the last product.
    assert recording.flops - plain.flops == (2 * first + second if reentrant else first)


def test_constants_of_the_model_are_no_inputs():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)
            self.scale = torch.rand(4)

        def forward(self, x):
            return self.linear(x) * self.scale * torch.tensor(2.0)

    recording = capture(Scaled(), torch.Tensor.sum, torch.rand(2, 4)).recording
    assert len(recording.inputs) == 1
    assert [save.bytes for save in recording.saves] == [32, 16, 4]


def test_a_relu_counts_if_it_made_what_is_saved():
    class Later(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(4))

        def forward(self, x):
            y = (x * self.weight).relu()
            total = y.sum() + (y.detach() * self.weight).sum()
            y.detach().add_(1)  # behind the back of the backward pass
            return total

    saves = capture(Later(), lambda output: output, torch.rand(4)).recording.saves
    assert [(save.relu, save.operation) for save in saves][1:] == [(True, "aten.relu.default")]


def test_a_storage_that_is_written_again_is_saved_again():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(4))

        def forward(self, x):
            first = (x * self.weight).sum()  # the backward pass needs x
            x.add_(1)
            return first.detach() + (x * self.weight).sum()

    saves = capture(Twice(), lambda output: output, torch.rand(4)).recording.saves
    assert [(save.number, save.bytes) for save in saves] == [(0, 16), (1, 16)]
    assert [bool(save.uses) for save in saves] == [False, True]
    profile = capture(Twice(), lambda output: output, torch.rand(4)).profile(Processor(1e12))
    assert profile.by_name["saved/0"].uses == (len(profile.operations) - 1,)


def test_profile_survives_its_file(tmp_path):
    profile = capture(*images(), with_ratios=True).profile(Processor(1e12))
    save_profile(profile, tmp_path / "profile.json")
    assert load_profile(tmp_path / "profile.json") == profile
    meta = capture(*images("meta")).profile(Processor(1e12))
    assert meta.fingerprint == profile.fingerprint


def test_ratios_are_those_of_the_codec():
    torch.manual_seed(1)
    model, x = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 1)), torch.randn(128, 64)
    hidden = model[1](model[0](x)).detach()
    expected = tensor_ratios("hidden", hidden.numpy(), 4096, [])
    saves = capture(model, torch.Tensor.sum, x, with_ratios=True).recording.saves
    save = next(save for save in saves if save.relu)
    assert save.ratios == {
        "window32": expected.ratio("WINDOW32"), "round16": expected.ratio("ROUND16"),
    }  # fmt: skip
    assert save.ratios["window32"] > 1.3
    half = capture(model.bfloat16(), torch.Tensor.sum, x.bfloat16(), with_ratios=True).recording.saves
    assert all(list(save.ratios) == ["window16"] for save in half)


def test_resident_bytes():
    model, loss, inputs = mlp("meta")
    model[0].requires_grad_(False)
    recording = capture(model, loss, inputs).recording
    frozen, updated = INPUTS * HIDDEN + HIDDEN, HIDDEN * CLASSES + CLASSES
    assert {group.name: group.elements for group in recording.parameters} == {
        "0 (frozen)": frozen, "2": updated,
    }  # fmt: skip
    captured, processor = Capture(recording), Processor(1e12)
    without = captured.profile(processor).resident_bytes
    assert without == 4 * frozen + 8 * updated + recording.workspace_bytes
    assert captured.profile(processor, Adam()).resident_bytes == without + 8 * updated
    # The result of the frozen layer is the largest storage that is not saved, and nothing else is beside it.
    assert recording.workspace_bytes == 4 * BATCH * HIDDEN


def test_compiled_modules_are_captured_uncompiled_and_stay_compiled():
    compiled = []

    def backend(graph, inputs):
        compiled.append(graph)
        return graph

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(x).tanh()

    model, x = Model(), torch.rand(2, 4)
    written = capture(model, torch.Tensor.sum, x).recording
    recording = capture(torch.compile(model, backend=backend), torch.Tensor.sum, x).recording
    assert [save.bytes for save in recording.saves] == [save.bytes for save in written.saves]
    assert [each.work for each in recording.operations] == [each.work for each in written.operations]
    assert not compiled
    torch.compile(model, backend=backend)(x)
    assert len(compiled) == 1
