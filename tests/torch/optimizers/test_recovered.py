"""Optimizers that go on after a loss of power, or from a pinned generation, as if nothing had been."""

import copy
from dataclasses import replace
from random import Random

import pytest
import torch
from torch import nn

from flashtrain.checkpoint import CheckpointExists, NoCheckpoint, PinEveryCommit
from flashtrain.checkpoint.host_state.plain_values import packed
from flashtrain.host import (
    GenerationPinned,
    JournalMissing,
    NoteTooLong,
    OptimizerState,
    StateMissing,
    open_device,
)
from flashtrain.spec import NodeTable
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import SGD, Adam, AdamW
from flashtrain.torch.optimizers.commit_note import CommitNote
from flashtrain.torch.ranks.ranks import RankPlace
from flashtrain.training.errors import ParameterError
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.optimizers import Adam as NumpyAdam
from tests.torch.compare import bits, give_gradients, network, same, same_state

OPTIONS = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (Adam, {"lr": 0.01, "weight_decay": 0.1}),
    (AdamW, {"lr": 0.01}),
]


def cycle(device):
    device.link.power_cycle()
    device.recover()


def train(models, optimizers, steps=1):
    for _ in range(steps):
        give_gradients(models)
        for optimizer in optimizers:
            optimizer.step()


def twin(model):
    """A device, a copy of the model, which is not cut."""
    return open_device("tiny", node=UPDATE_NODE), copy.deepcopy(model)


def equal(models, optimizers):
    same(models[0].parameters(), models[1].parameters())
    same_state(*optimizers)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("kind", "options"), OPTIONS, ids=lambda value: getattr(value, "__name__", None))
def test_goes_on_as_if_not_cut(device, kind, options, dtype):
    model = network(dtype=dtype)
    other, uncut = twin(model)
    with other:
        optimizers = [kind(model.parameters(), device=device, **options)]
        optimizers.append(kind(uncut.parameters(), device=other, **options))
        for _ in range(2):
            train([model, uncut], optimizers, 2)
            cycle(device)
            model = network(dtype=dtype)  # of other weights
            optimizers[0] = kind(model.parameters(), device=device, recovered=True, **options)
            assert optimizers[0].stores == 0
            equal([model, uncut], optimizers)
            assert optimizers[0].resume() and optimizers[0].recovered_host_state == b""
        train([model, uncut], optimizers)
        equal([model, uncut], optimizers)
        assert optimizers[0].stores == 0


def test_cells_and_groups(device):
    """Some parameters have no gradient at first, and a group comes later."""
    models = [nn.ModuleList([network(), nn.Linear(3, 3), nn.Linear(2, 2)])]
    other, uncut = twin(models[0])
    models.append(uncut)

    def groups(model):
        return [{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 0.2}]

    with other:
        optimizers = [
            Adam(groups(model), lr=0.01, device=one)
            for model, one in zip(models, (device, other), strict=True)
        ]
        for frozen in (True, False):
            for model in models:
                model[0][0].requires_grad_(not frozen)
            train(models, optimizers)
        for model, optimizer in zip(models, optimizers, strict=True):
            optimizer.add_param_group({"params": model[2].parameters(), "betas": (0.5, 0.9)})
        train(models, optimizers)
        assert len(optimizers[0]._dies.cells) == 4
        cycle(device)
        models[0] = nn.ModuleList([network(), nn.Linear(3, 3), nn.Linear(2, 2)])
        made = [*groups(models[0]), {"params": models[0][2].parameters(), "betas": (0.5, 0.9)}]
        optimizers[0] = Adam(made, lr=0.01, device=device, recovered=True)
        equal(models, optimizers)
        train(models, optimizers)
        equal(models, optimizers)
        assert optimizers[0].stores == 0


def test_weights_before_the_first_step_are_exact(device):
    """Though copies of 16 bits come back with each step."""
    model = network()
    start = [bits(p) for p in model.parameters()]
    options = {"device": device, "gradient_format": GradientFormat.BF16, "copy_format": CopyFormat.BF16}
    Adam(model.parameters(), **options)
    for _ in range(2):
        cycle(device)
        model = network()
        optimizer = Adam(model.parameters(), recovered=True, **options)
        assert [bits(p) for p in model.parameters()] == start and not optimizer.resume()
    train([model], [optimizer])
    after = [bits(p) for p in model.parameters()]
    cycle(device)
    Adam(network().parameters(), recovered=True, **options)
    Adam((again := network()).parameters(), recovered=True, **options)
    assert [bits(p) for p in again.parameters()] == after != start


# The host's state.


def made(device, **options):
    model = network()
    return model, Adam(model.parameters(), lr=0.01, device=device, **options)


def recovered(device):
    cycle(device)
    return made(device, recovered=True)


def test_the_state_of_the_host_is_that_of_the_commit(device):
    model, optimizer = made(device)
    calls = []
    optimizer.host_state = lambda: f"call {len(calls)}".encode()
    for number in range(3):
        calls.append(number)
        optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
        train([model], [optimizer])
    model[0].weight.grad[0, 0] = torch.inf
    calls.append(3)
    with pytest.warns(RuntimeWarning, match="skipped a step"):
        optimizer.step()  # commits nothing
    model, optimizer = recovered(device)
    given = []
    assert optimizer.param_groups[0]["lr"] == 0.01
    assert optimizer.resume(given.append) and given == [b"call 3"] == [optimizer.recovered_host_state]
    assert optimizer.param_groups[0]["lr"] == 0.1 / 3 and optimizer.param_groups[0]["betas"] == (0.9, 0.999)


def test_a_rate_that_is_a_tensor(device):
    model = network()
    optimizer = Adam(model.parameters(), lr=torch.tensor(0.25), device=device)
    train([model], [optimizer])
    cycle(device)
    rate = torch.tensor(0.5)
    optimizer = Adam(network().parameters(), lr=rate, device=device, recovered=True)
    assert optimizer.resume() and optimizer.param_groups[0]["lr"] is rate and rate == 0.25


def test_storing_anew_keeps_the_state_of_the_host(device, monkeypatch):
    model, optimizer = made(device)
    optimizer.host_state = lambda: b"one"
    train([model], [optimizer])
    with torch.no_grad():
        model[0].weight.fill_(0.5)

    def fail(*_):
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(OptimizerState, "update", fail)
        with pytest.raises(InterruptedError):
            optimizer.step()  # the weights were stored, and the step was not taken
    assert optimizer.stores == 2
    model, optimizer = recovered(device)
    assert optimizer.recovered_host_state == b"one" and (model[0].weight == 0.5).all()
    assert int(optimizer.state[model[0].weight]["step"]) == 1


def test_a_loaded_state_has_none(device):
    model, optimizer = made(device)
    optimizer.host_state = lambda: b"one"
    train([model], [optimizer])
    optimizer.load_state_dict(optimizer.state_dict())
    model, optimizer = recovered(device)
    assert not optimizer.resume(lambda _: pytest.fail("there is nothing to restore"))
    assert int(optimizer.state[model[0].weight]["step"]) == 1


def test_a_step_that_cannot_record_it_changes_nothing(device, seed):
    model, optimizer = made(device)
    optimizer.host_state = lambda: b"one"
    train([model], [optimizer])
    before = [bits(p) for p in model.parameters()], optimizer.state_dict()

    def unable():
        raise InterruptedError

    for host, error in ((lambda: Random(seed).randbytes(100_000), NoteTooLong), (unable, InterruptedError)):
        optimizer.host_state = host
        with pytest.raises(error):
            train([model], [optimizer])
        assert [bits(p) for p in model.parameters()] == before[0]
        assert optimizer.state_dict()["state"][0]["step"] == before[1]["state"][0]["step"]
    optimizer.host_state = lambda: b"two"
    train([model], [optimizer])
    model, optimizer = recovered(device)
    assert optimizer.recovered_host_state == b"two"
    assert int(optimizer.state[model[0].weight]["step"]) == 2


def test_a_node_without_a_journal():
    node = NodeTable("unrecorded", tuple(s for s in UPDATE_NODE.streams if s is not UPDATE_NODE.journal))
    with open_device("tiny", node=node) as device:
        model, optimizer = made(device)
        train([model], [optimizer])
        optimizer.host_state = lambda: b"one"
        with pytest.raises(JournalMissing, match="node 'unrecorded' does not record the host's state"):
            train([model], [optimizer])
        with pytest.raises(JournalMissing, match="a pin of an optimizer in a node without a journal"):
            optimizer.pin("one")
        with pytest.raises(StateMissing, match="state_a, state_b, state_c hold no committed state"):
            recovered(device)


def test_the_note_is_short(device):
    """Of a deep network, whose layers alternate between two groups."""
    layers = [nn.Linear(2, 2) for _ in range(200)]
    groups = [{"params": [p for layer in layers[first::2] for p in layer.parameters()]} for first in (0, 1)]
    Adam(groups, device=device)
    assert len(device.state_stream("state_a").note) < 150


def test_what_is_refused(device):
    with pytest.raises(StateMissing, match="streams state_a, state_b, state_c hold no committed state"):
        made(device, recovered=True)
    model, optimizer = made(device)
    train([model], [optimizer])
    cycle(device)

    def attach(kind, model, groups=None, **options):
        return kind(groups or model.parameters(), lr=0.01, device=device, recovered=True, **options)

    with pytest.raises(ParameterError, match="is not of these 4 parameters in 1 groups; expected the same"):
        attach(Adam, network((30, 21, 5)))
    with pytest.raises(ParameterError, match="not of these 4 parameters in 2 groups"):
        attach(Adam, None, [{"params": part.parameters()} for part in (network((30, 20)), network((20, 5)))])
    with pytest.raises(ParameterError, match="not of these 4 parameters"):
        attach(Adam, network(dtype=torch.bfloat16))
    with pytest.raises(ParameterError, match="group 0 has state of ADAM on the dies; momentum differs"):
        attach(SGD, network(), momentum=0.9)
    with pytest.raises(
        ParameterError, match=r"group 0 has Formats\(.*FP32.*\) on the dies; expected the same"
    ):
        attach(Adam, network(), gradient_format=GradientFormat.BF16)
    assert attach(AdamW, network()).resume()
    weights = [p.detach().numpy() for p in model.parameters()]
    FlashOptimizer(weights, NumpyAdam(0.01), device)
    with pytest.raises(StateMissing, match="is not that of an optimizer of PyTorch"):
        recovered(device)


def test_a_note_of_another_version(device, monkeypatch):
    made(device)
    monkeypatch.setattr("flashtrain.torch.optimizers.commit_note.VERSION", 9)
    with pytest.raises(StateMissing, match="has a note of version 1; expected 9"):
        recovered(device)
    with pytest.raises(StateMissing, match="not that of an optimizer of PyTorch"):
        CommitNote.unpack(b"FTV1")


def test_a_note_of_one_process_has_no_place():
    """So the state of a training from before there were several ranks is read."""
    note = CommitNote((), 7, None, b"host", None)
    assert note.pack() == packed([1, [], 7, None, b"host"])
    assert CommitNote.unpack(note.pack()) == note
    placed = replace(note, place=RankPlace(3, 2, 1, 4))
    assert CommitNote.unpack(placed.pack()) == placed


# Pinned generations.


def test_pins(device):
    """A run from a checkpoint has the bits of the run that made it, also after losses of power."""
    model, optimizer = made(device)
    hosts = iter(range(99))
    optimizer.host_state = lambda: bytes([next(hosts)])
    train([model], [optimizer], 2)
    weights = [bits(p) for p in model.parameters()]
    assert optimizer.pin("two").step == 2
    with pytest.raises(CheckpointExists):
        optimizer.pin("two")
    runs = []
    for _ in range(3):
        torch.manual_seed(7)
        train([model], [optimizer], 3)
        runs.append([bits(p) for p in model.parameters()])
        model, optimizer = recovered(device)
        assert [bits(p) for p in model.parameters()] == runs[-1]
        assert [one.name for one in optimizer.checkpoints.checkpoints] == ["two"]
        optimizer.restore("two")
        assert [bits(p) for p in model.parameters()] == weights
        assert int(optimizer.state[model[0].weight]["step"]) == 2
        given = []
        assert optimizer.resume(given.append) and given == [bytes([1])]
        model, optimizer = recovered(device)
        assert [bits(p) for p in model.parameters()] == weights
        assert optimizer.recovered_host_state == bytes([1])
    assert runs[0] == runs[1] == runs[2] != weights
    with pytest.raises(NoCheckpoint, match="no generation is pinned as checkpoint 'one'; pinned are two"):
        optimizer.restore("one")
    optimizer.checkpoints.delete("two")
    assert recovered(device)[1].checkpoints.checkpoints == ()


def test_a_pin_at_every_step(device):
    model, optimizer = made(device)
    weights = {}
    for number in range(1, 6):
        train([model], [optimizer])
        optimizer.pin(f"step {number}")
        weights[f"step {number}"] = [bits(p) for p in model.parameters()]
        assert [one.name for one in optimizer.checkpoints.checkpoints] == [f"step {number}"]
    train([model], [optimizer])
    optimizer.restore("step 5")
    assert [bits(p) for p in model.parameters()] == weights["step 5"]


def test_every_commit_a_checkpoint(device):
    """In the record of the commit. A name that is there already leaves all as it was."""
    options = {"lr": 0.01, "device": device, "commits": PinEveryCommit()}
    model = network()
    optimizer = Adam(model.parameters(), **options)
    optimizer.host_state = lambda: b"host"
    train([model], [optimizer], 3)
    weights = [bits(p) for p in model.parameters()]
    cycle(device)
    optimizer = Adam((model := network()).parameters(), recovered=True, **options)
    assert [one.name for one in optimizer.checkpoints.checkpoints] == ["step 3"]
    assert [bits(p) for p in model.parameters()] == weights and optimizer.recovered_host_state == b"host"
    optimizer.checkpoints.delete("step 3")
    optimizer.pin("step 4")
    with pytest.raises(CheckpointExists):
        train([model], [optimizer])
    assert [bits(p) for p in model.parameters()] == weights
    optimizer.checkpoints.delete("step 4")
    train([model], [optimizer])
    assert [one.name for one in optimizer.checkpoints.checkpoints] == ["step 4"]


def test_weights_are_not_stored_anew_beside_a_pin(device):
    model, optimizer = made(device)
    train([model], [optimizer])
    optimizer.pin("one")
    with torch.no_grad():
        model[0].weight.fill_(0.5)
    with pytest.raises(GenerationPinned, match="expected its release before"):
        train([model], [optimizer])
    assert int(recovered(device)[1].state_dict()["state"][0]["step"]) == 1
    optimizer = made(device, recovered=True)[1]
    optimizer.checkpoints.delete("one")
