"""Bad input: an exception that names module, tensor and what was expected, and nothing is kept in silence."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._mode_utils import no_dispatch

from flashtrain.host import OverBudget, WearBudget, WearBudgetExceeded, open_device
from flashtrain.spec import ConfigError, Port
from flashtrain.torch import (
    ActivationError,
    ActivationLost,
    ActivationRefused,
    OffloadActivations,
    UnsupportedTensor,
    keep,
    save_on_flash,
)

from .saving import Saved


class Saves(nn.Module):
    def __init__(self, *tensors: torch.Tensor) -> None:
        super().__init__()
        self.tensors = tensors

    def forward(self) -> Saved:
        return Saved(*self.tensors)


class Outer(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self) -> Saved:
        return self.inner()


class Opaque(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        with no_dispatch():
            return function(*args, **(kwargs or {}))


warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
UNSUPPORTED = {
    "has the layout sparse_coo": torch.eye(3).to_sparse(),
    "has the layout sparse_csr": torch.eye(3).to_sparse_csr(),
    "lies on device 'meta'": torch.empty(3, 3, device="meta"),
    "is a Opaque": torch.Tensor._make_subclass(Opaque, torch.zeros(3, 3)),
}


@pytest.mark.parametrize("reason", UNSUPPORTED)
def test_unsupported_tensors(device, reason):
    network = Outer(Saves(UNSUPPORTED[reason]))
    with pytest.raises(
        UnsupportedTensor, match=rf"float32\S.* of module 'inner' {reason}.*; expected a strided one"
    ):
        with save_on_flash(device):
            network()
    with save_on_flash(device) as activations, keep():
        saved = network()
    (restored,) = saved.restore()
    assert (restored.layout, restored.device) == (UNSUPPORTED[reason].layout, UNSUPPORTED[reason].device)
    assert activations.report().total.tensors == 0


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested(device):
    parts = [torch.randn(3, 3), torch.randn(2, 3)]
    nested = torch.nested.nested_tensor(parts, requires_grad=True)
    with pytest.raises(UnsupportedTensor, match="is nested"), save_on_flash(device):
        nested.relu()
    with save_on_flash(device), keep():
        out = nested.relu()
    out.backward(nested.detach())
    assert nested.grad is not None and torch.equal(nested.grad[1], parts[1].relu())


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_quantized(device):
    tensor = torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8)
    with pytest.raises(UnsupportedTensor, match=r"qint8\[3\] .*is quantized"), save_on_flash(device):
        Saved(tensor)


def saved_on(device, memory_bytes: int = 0) -> Saved:
    network = Outer(Saves(torch.randn(3000)))
    with OffloadActivations(device, memory_bytes=memory_bytes):
        saved = network()
    network.inner.tensors = ()
    return saved


LOST = r"saved/0, float32\[3000\] of module 'inner', is not on the flash any more; expected <stream 'act"


def test_stream_was_reset(device):
    saved = saved_on(device)
    device.stream("activations", Port.CORE).reset()
    with pytest.raises(ActivationLost, match=LOST + ".*reset"):
        saved.restore()


def test_stream_was_dropped_by_others(device):
    saved = saved_on(device)
    device.stream("activations", Port.CORE).drop_all()
    with pytest.raises(ActivationLost, match=LOST):
        saved.restore()


def test_a_stream_that_was_reset_takes_new_graphs(device):
    with OffloadActivations(device, memory_bytes=0) as activations:
        lost = Saved(torch.randn(3000))
        device.stream("activations", Port.CORE).reset()
        del lost
        saved = Saved(torch.ones(3000))
    (restored,) = saved.restore()
    assert torch.equal(restored, torch.ones(3000))
    assert activations.report().total.read_bytes == 12_000


@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_device_was_closed(memory_bytes):
    with open_device("small") as device:
        saved = saved_on(device, memory_bytes)
    if memory_bytes:
        assert saved.restore()[0].numel() == 3000  # still in memory
    else:
        with pytest.raises(ActivationLost, match=LOST + ".*disabled or closed"):
            saved.restore()


def test_forward_pass_on_a_closed_device():
    with open_device("small") as device:
        activations = save_on_flash(device)
    with pytest.raises(
        ActivationRefused, match=r"saved/0, float32\[3000\] of module 'inner', could not be stored"
    ):
        with activations:
            Outer(Saves(torch.randn(3000)))()
    assert activations.report().total.stored_bytes == 0


def test_forward_pass_over_the_wear_budget(device):
    """What was stored before can be read."""
    now = [0.0]
    with save_on_flash(device):
        saved = Saved(torch.ones(3000))
        device.wear_budget = WearBudget(1e9, OverBudget.REFUSE, window_seconds=1.0, clock=lambda: now[0])
        Saved(torch.ones(3000))
        other = device.stream("weights", Port.CORE)
        other.append(np.arange(9))
        other.reset()
        now[0] = 2.0
        with pytest.raises(WearBudgetExceeded):
            Saved(torch.ones(3000))
    assert torch.equal(saved.restore()[0], torch.ones(3000))


def test_options(device):
    for options in ({"memory_bytes": -1}, {"min_bytes": 0.5}, {"memory_bytes": "16 MiB"}):
        with pytest.raises(ConfigError, match="expected 0 or more"):
            OffloadActivations(device, **options)
    with pytest.raises(ConfigError, match="has no stream 'activation'"):
        OffloadActivations(device, stream="activation")


def test_a_context_is_not_entered_twice(device):
    with save_on_flash(device) as activations:
        with pytest.raises(ActivationError, match="in use"), activations:
            pass
        saved = Saved(torch.ones(3000))
    assert saved.restore()[0].all() and activations.report().total.read_bytes == 12_000


def test_without_pytorch():
    """One line that names the extra."""
    code = "import sys; sys.modules['torch'] = None; import flashtrain.torch"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = result.stderr.strip().splitlines()[-1]
    assert (
        "MissingExtra: PyTorch is not installed; expected the extra" in last and "flashtrain[torch]" in last
    )
