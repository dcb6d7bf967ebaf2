"""Ways to run a model: what works within the hooks, and what is refused by name (the table of the page)."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, distributed, nn
from torch._C._distributed_c10d import HashStore
from torch.autograd.graph import allow_mutation_on_saved_tensors
from torch.distributed._functional_collectives import all_gather_single_autograd
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from flashtrain.host import Device, open_device
from flashtrain.torch import ActivationChanged, AdamW, save_on_flash
from flashtrain.torch.ranks.shards import shard

X = torch.linspace(-1, 1, 64 * 64).reshape(64, 64)


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))


def gradients(model: nn.Module, loss: Tensor) -> list[Tensor]:
    loss.backward()
    return [p.grad for p in model.parameters() if p.grad is not None]


@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_a_model_that_is_compiled_within_the_context(device: Device):
    model, plain = network(), network()
    compiled = torch.compile(model, backend="eager")
    with save_on_flash(device) as activations:
        loss = compiled(X).square().sum()
    expected = gradients(plain, plain(X).square().sum())
    assert all(map(torch.equal, gradients(model, loss), expected))
    assert activations.report().total.read_bytes > 0


def test_mutation_of_saved_tensors(device: Device):
    """PyTorch's context clones what it sees; hooks do not nest, so around these it sees nothing."""

    def loss() -> Tensor:
        y = X.clone().requires_grad_() * 2
        z = y.square()
        y.detach().zero_()
        return z.sum()

    with allow_mutation_on_saved_tensors(), save_on_flash(device):
        changed = loss()
    with pytest.raises(ActivationChanged, match="is at version 1; expected version 0"):
        changed.backward()
    with save_on_flash(device), allow_mutation_on_saved_tensors():
        loss().backward()


@pytest.fixture
def parallel() -> Iterator[nn.Module]:
    """A model whose parameters and activations are DTensors, in a group of one process."""
    distributed.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    yield parallelize_module(network(), init_device_mesh("cpu", (1,)), plan)
    distributed.destroy_process_group()


def test_tensor_parallelism(device: Device, parallel: nn.Module):
    results = []
    for context in (nullcontext(), activations := save_on_flash(device)):
        parallel.zero_grad()
        with context:
            loss = parallel(X).square().sum()
        if context is activations:
            assert activations.report().live_bytes == X.nbytes
        results.append([shard(one).clone() for one in gradients(parallel, loss)])
    assert len(results[0]) == 4 and all(map(torch.equal, *results))
    assert activations.report().total.read_bytes == X.nbytes * (2 * 4 + 1), "two of 256 wide, and the output"
    given = distribute_tensor(X, init_device_mesh("cpu", (1,)), [Replicate()]).requires_grad_() * 1
    with activations:
        loss = given.square().sum()
    given.detach().zero_()
    with pytest.raises(ActivationChanged, match="is at version 1; expected version 0"):
        loss.backward()
    part = X.clone().requires_grad_()
    with activations:  # autograd saves a collective that may be under way
        loss = all_gather_single_autograd(part, 0, distributed.group.WORLD).square().sum()
    loss.backward()
    assert torch.equal(part.grad, 2 * X)
    before = [parameter.full_tensor().clone() for parameter in parallel.parameters()]
    with open_device("small", node="update") as update:
        AdamW(parallel.parameters(), device=update).step()
    for old, parameter in zip(before, parallel.parameters(), strict=True):
        assert not torch.equal(old, parameter.full_tensor())


def test_functional_gradients(device: Device):
    with save_on_flash(device), pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
        torch.func.grad(lambda x: x.square().sum())(X)
