"""The report: sums that agree with each other, a table by module, and text."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from flashtrain.torch import OffloadActivations

from .networks import mlp, vectors_step


def saved_without_us(network: nn.Module, step) -> int:
    """Bytes of all storages that PyTorch saves, parameters aside; counted while all are alive."""
    own = {parameter.data_ptr() for parameter in network.parameters()}
    storages = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = step(network)
    assert loss is not None
    return sum(nbytes for address, nbytes in storages.items() if address not in own)


def test_sums(device):
    network, step = mlp(), vectors_step()
    activations = OffloadActivations(device, memory_bytes=400_000)
    for iteration in range(1, 3):
        with activations:
            loss = step(network)
        loss.backward()
        report = activations.report()
        total = report.total
        assert total.saved_bytes == iteration * saved_without_us(network, step)
        assert total.saved_bytes == total.kept_bytes + total.offloaded_bytes
        assert total.kept_bytes == sum(report.kept.values())
        assert total.memory_bytes + total.read_bytes == total.offloaded_bytes
    block = device.config.geometry.page_bytes
    assert total.offloaded_bytes <= total.stored_bytes < total.offloaded_bytes + total.tensors * block
    assert report.ratio == total.offloaded_bytes / total.stored_bytes


def test_table_and_text(device):
    network, step = mlp(layers=2), vectors_step()
    with OffloadActivations(device, memory_bytes=200_000) as activations:
        step(network)
    report = activations.report()
    assert list(report.modules) == ["0", "1", "2", "3", "4", "5", "(no module)"]
    text = str(report)
    for number in (report.total.saved_bytes, report.total.stored_bytes, report.peak_bytes, 200_000):
        assert f"{number:,}" in text
    rows = text.splitlines()[-8:]
    assert [row.split()[0] for row in rows] == ["module", "0", "1", "2", "3", "4", "5", "(no"]
    assert len({len(row) for row in rows}) == 1


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = mlp(layers=1), nn.Linear(10, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(checkpoint(self.first, x, use_reentrant=True))


def test_names_of_modules(device):
    """Parts that a checkpoint calls again keep their names; names of other models begin with their class."""
    network, criterion = Parts(), nn.Sequential(nn.Tanh(), nn.Softmax(-1))
    with OffloadActivations(device, min_bytes=0) as activations:
        for _ in range(2):
            criterion(network(torch.randn(8, 64, requires_grad=True))).pow(2).sum().backward()
    assert set(activations.report().modules) == {
        "first.1", "first.2", "first.3", "second", "Sequential.0", "Sequential.1",
    }  # fmt: skip


def test_empty(device):
    report = OffloadActivations(device).report()
    assert report.total.saved_bytes == 0 and report.ratio is None
    assert "saved 0 bytes" in str(report)
