"""Kinds of tensors: the storage of a stored one holds its values, and all others stay or are refused."""

from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.func import functional_call, vmap
from torch.masked import masked_tensor

from flashtrain.host import Device
from flashtrain.torch import UnsupportedTensor, keep, save_on_flash, tensor_kinds
from flashtrain.torch.tensor_kinds import materialized, obstacle

from .saving import Saved

pytestmark = pytest.mark.filterwarnings(
    "ignore:The PyTorch API of MaskedTensors", "ignore:`torch.jit.script` is deprecated"
)

efficient_zeros = torch._efficientzerotensor  # pyright: ignore[reportPrivateImportUsage]
negative_view = torch._neg_view  # pyright: ignore[reportPrivateImportUsage]
to_functional = torch._to_functional_tensor  # pyright: ignore[reportPrivateImportUsage]


def zero(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor of 3,000 elements whose storage has a size and a null pointer."""
    return efficient_zeros((3000,), dtype=dtype)


def fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(3)


def freed() -> torch.Tensor:
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(8)
    return tensor


def masked() -> torch.Tensor:
    return masked_tensor(torch.ones(3), torch.tensor([True, False, True]))


def jagged() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=torch.jagged)


REFUSED = {
    "is a FakeTensor": fake,
    "has a storage without its data": freed,
    "is a MaskedTensor": masked,
    "is a NestedTensor": jagged,
    "has the layout torch._mkldnn": lambda: torch.ones(3, 3).to_mkldnn(),
    "has the dispatch key Functionalize": lambda: to_functional(torch.ones(3)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_storage_that_does_not_hold_the_values_is_refused(device: Device, reason: str):
    tensor = REFUSED[reason]()
    with save_on_flash(device) as activations:
        with pytest.raises(UnsupportedTensor, match=rf"{reason.replace('torch.', '')}.*, or `keep`"):
            Saved(tensor)
        with keep():
            saved = Saved(tensor)
    (restored,) = saved.restore()
    assert type(restored) is type(tensor) and obstacle(restored) == obstacle(tensor)
    assert activations.report().total.tensors == 0


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(3),
        torch.ones(9)[2:5],
        torch.ones(1).expand(5),
        torch.ones(0),
        torch.ones(3, dtype=torch.complex64).conj(),
        negative_view(torch.ones(3)),
        torch.ones(3, device="meta"),
        nn.Parameter(torch.ones(3)),
    ],
)
def test_plain_kinds(tensor: torch.Tensor):
    assert obstacle(tensor) is None


@pytest.mark.parametrize("mode", [FakeTensorMode, torch.inference_mode])
def test_a_mode_does_not_change_what_is_plain(mode):
    """The keys of dense tensors are found once, perhaps within a mode."""
    tensor_kinds._dense_keys.cache_clear()
    plain, fakes = torch.ones(3), fake()
    with mode():
        obstacle(plain)
    assert obstacle(plain) is None and obstacle(fakes) is not None and obstacle(zero()) is not None


def test_zeros_of_forward_mode_stay_as_they_are(device: Device):
    """Their storage is a null pointer with a size."""
    with save_on_flash(device) as activations:
        saved = Saved(zero(), zero(torch.complex64).conj())
    assert all(not restored.any() and restored.numel() == 3000 for restored in saved.restore())
    assert activations.report().total.tensors == 0


def gradients(hooks) -> list[torch.Tensor]:
    """Of a loss with a derivative of forward mode in it, whose graph saves zeros."""
    torch.manual_seed(0)
    x, y = (torch.randn(3000, requires_grad=True) for _ in range(2))
    with hooks, forward_ad.dual_level():
        out = (forward_ad.make_dual(x, torch.ones(3000)) * (y * 1)).sin()
        primal, tangent = forward_ad.unpack_dual(out)
        assert primal is not None and tangent is not None
        (tangent.sum() + primal.sum()).backward()
    return [grad for one in (x, y) if (grad := one.grad) is not None]


def test_gradients_through_forward_mode(device: Device):
    expected = gradients(nullcontext())
    assert len(expected) == 2
    assert all(map(torch.equal, gradients(save_on_flash(device)), expected))


def test_vmap_of_a_functional_call(device: Device):
    """Parameters are wrappers while the module runs; autograd saves what they wrap."""
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(64, 64), nn.Tanh()), torch.randn(5, 64)
    stacked = {name: p.detach().expand(4, *p.shape).clone() for name, p in model.named_parameters()}

    def gradients(hooks) -> dict[str, torch.Tensor]:
        given = {name: p.clone().requires_grad_() for name, p in stacked.items()}
        with hooks:
            out = vmap(lambda p: functional_call(model, p, (x,)))(given)
        out.square().sum().backward()
        return {name: p.grad for name, p in given.items() if p.grad is not None}

    expected, activations = gradients(nullcontext()), save_on_flash(device)
    found = gradients(activations)
    assert len(found) == 2 and all(torch.equal(found[name], expected[name]) for name in expected)
    assert activations.report().total.offloaded_bytes


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(4)[::2],
        negative_view(torch.ones(3)),
        torch.ones(3, dtype=torch.complex64).conj(),
        efficient_zeros((3,)),
    ],
)
def test_materialized(tensor: torch.Tensor):
    plain = materialized(tensor)
    assert torch.equal(torch.from_numpy(plain.numpy()), tensor + 0)
