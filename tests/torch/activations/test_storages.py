"""Saved tensors come back as they were; each storage is stored once, and parameters are not."""

import weakref

import pytest
import torch
from torch import nn

from flashtrain.torch import OffloadActivations, save_on_flash

from .networks import same_bits
from .saving import Saved

DTYPES = [
    torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float32,
    torch.float64, torch.complex64,
]  # fmt: skip


def some(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    bits = torch.randint(0, 256, (*shape, dtype.itemsize), dtype=torch.uint8)
    return (bits & 1).bool().squeeze(-1) if dtype is torch.bool else bits.view(dtype).squeeze(-1)


def views(base: torch.Tensor) -> list[torch.Tensor]:
    """Views of a tensor of 6 x 8 x 10 elements."""
    return [
        base, base[2:, ::3, 1], base.permute(2, 0, 1), base[0, 0, 0], base[1:2].expand(5, 8, 10),
        base.as_strided((4, 4), (1, 1), 7),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_views(device, dtype):
    base = some(dtype, 6, 8, 10)
    expected = [(view.clone(), view.stride(), view.storage_offset()) for view in views(base)]
    with OffloadActivations(device, memory_bytes=0, min_bytes=0) as activations:
        saved = Saved(*views(base))
    storage = weakref.ref(base.untyped_storage())
    nbytes = base.untyped_storage().nbytes()
    del base
    assert storage() is None
    total = activations.report().total
    assert (total.tensors, total.offloaded_bytes) == (1, nbytes)
    restored = saved.restore()
    for tensor, (values, stride, offset) in zip(restored, expected, strict=True):
        assert same_bits(tensor, values) and (tensor.stride(), tensor.storage_offset()) == (stride, offset)
    assert len({id(tensor.untyped_storage()) for tensor in restored}) == 1


def test_lazy_conjugates_and_negatives(device):
    base = some(torch.complex64, 5, 7)
    tensors = [base.conj(), base.conj().imag]
    expected = [tensor.clone() for tensor in tensors]
    with OffloadActivations(device, memory_bytes=0, min_bytes=0):
        saved = Saved(*tensors)
    del base, tensors
    restored = saved.restore()
    assert restored[0].is_conj() and restored[1].is_neg()
    assert all(torch.equal(a.isnan(), b.isnan()) for a, b in zip(restored, expected, strict=True))
    assert all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(restored, expected, strict=True))


class Image(torch.Tensor):
    """A class without a dispatch of its own, as torchvision has them."""


def test_subclass(device):
    tensor = torch.randn(40, 40).as_subclass(Image)
    expected = tensor.clone()
    with save_on_flash(device) as activations:
        saved = Saved(tensor)
    del tensor
    (restored,) = saved.restore()
    assert type(restored) is Image and torch.equal(restored, expected)
    assert activations.report().total.read_bytes


def test_addresses_are_used_again(device):
    """Each tensor dies before the next one is made, often at its address."""
    addresses, saved = set(), []
    with save_on_flash(device):
        for number in range(20):
            # Each a bit smaller: with an alignment, equal ones do not fit where one was.
            tensor = torch.full((100_000 - 100 * number,), number, dtype=torch.int32)
            addresses.add(tensor.data_ptr())
            saved.append(Saved(tensor))
            del tensor
    assert len(addresses) < 20
    for number, one in enumerate(saved):
        assert (one.restore()[0] == number).all()


class Tied(nn.Module):
    """Saves its parameter, views of it, its buffer, and parameters of a list that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(80, 80))
        self.others = nn.ParameterList([torch.randn(80, 80)])
        self.register_buffer("mask", torch.randn(80, 80))

    def forward(self) -> Saved:
        with torch.no_grad():
            part = self.weight[3:]
        detached = self.others[0].detach()
        return Saved(self.weight, self.weight.t(), part, self.mask, self.mask.t(), detached)


def test_parameters_and_buffers_stay(device):
    network = Tied()
    with save_on_flash(device) as activations:
        saved = network()
    weight, transposed, part, *buffers, detached = saved.restore()
    own = network.weight.untyped_storage()
    assert all(tensor.untyped_storage() is own for tensor in (weight, transposed, part))
    assert all(tensor.untyped_storage() is network.mask.untyped_storage() for tensor in buffers)
    assert detached.untyped_storage() is network.others[0].untyped_storage()
    assert transposed.stride() == (1, 80)
    assert activations.report().total.tensors == 0


def test_lazy_parameters(device):
    network, step = nn.Sequential(nn.LazyLinear(80), nn.GELU(), nn.LazyLinear(10)), torch.randn(30, 50)
    with save_on_flash(device) as activations:
        loss = network(step).pow(2).sum()
    loss.backward()
    assert network[0].weight.grad is not None
    assert set(activations.report().kept) == {"small"}


def test_views_of_a_parameter_without_a_module(device):
    weight = nn.Parameter(torch.randn(80, 80))
    with save_on_flash(device) as activations:
        saved = Saved(weight.t())
    (transposed,) = saved.restore()
    assert transposed.untyped_storage() is weight.untyped_storage()
    assert activations.report().total.tensors == 0


def test_no_elements(device):
    base = torch.randn(100, 100)
    storage = weakref.ref(base.untyped_storage())
    with save_on_flash(device) as activations:
        saved = Saved(base[:, :0], torch.empty(0, 3))
    del base
    assert storage() is None
    first, second = saved.restore()
    assert (first.shape, first.stride(), second.shape) == ((100, 0), (100, 1), (0, 3))
    assert activations.report().total.tensors == 0


def test_small_storages_stay(device):
    with OffloadActivations(device, memory_bytes=0, min_bytes=1000) as activations:
        saved = Saved(torch.zeros(249), torch.ones(250))
    report = activations.report()
    assert (report.kept, report.total.offloaded_bytes) == ({"small": 996}, 1000)
    zeros, ones = saved.restore()
    assert not zeros.any() and ones.all()


def test_a_storage_that_was_emptied(device):
    """Its bytes come from the flash, although the object is alive."""
    tensor = torch.randn(3000)
    expected = tensor.clone()
    with save_on_flash(device):
        saved = Saved(tensor)
    tensor.untyped_storage().resize_(0)
    assert torch.equal(saved.restore()[0], expected)
