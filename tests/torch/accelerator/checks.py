"""Checks of tensors on an accelerator, which run on a real one and on that of `late_device`."""

import sys
import unittest
import warnings
from contextlib import nullcontext
from types import SimpleNamespace
from unittest.mock import patch

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.utils._pytree import tree_leaves, tree_map_only

from flashtrain.checkpoint import AppendedCheckpoints
from flashtrain.host import open_device
from flashtrain.spec.streams import STORE_NODE, UPDATE_NODE, Codec
from flashtrain.torch import (
    AdamW,
    FlashDataset,
    Muon,
    OffloadActivations,
    accelerators,
)
from flashtrain.torch.accelerators import HostStaging, host_copy, is_on_accelerator, write_from_host
from flashtrain.torch.checkpoint import FlashReader, FlashWriter
from flashtrain.torch.tensor_kinds import materialized

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64)


def bits(tensor):
    plain = host_copy(tensor).clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def numbers(*shape, dtype=torch.float32):
    return (torch.randn(shape) * 9).to(dtype)


def round_trips(device):
    """All kinds of layouts, in pieces of 32 bytes and in one."""
    compared = 0
    for staging in (HostStaging(torch.device(device, 0), 64), HostStaging(torch.device(device, 0))):
        for dtype in DTYPES:
            for shape in ((), (1,), (7,), (5, 9), (3, 4, 5), (0, 3)):
                plain = numbers(*shape, dtype=dtype)
                there = plain.to(device)
                assert is_on_accelerator(there) and not is_on_accelerator(plain)
                for view in (
                    there,
                    there.t() if there.dim() == 2 else there,
                    there[..., ::2] if shape else there,
                ):
                    expected = view.cpu()
                    assert bits(staging.to_host(view)) == bits(expected)
                    target = torch.zeros_like(view)
                    staging.to_device(target, expected)
                    assert bits(target.cpu()) == bits(expected)
                    compared += expected.numel()
    plain = numbers(4, dtype=torch.complex64)
    for lazy in (torch.Tensor.conj, torch._neg_view, lambda tensor: torch._neg_view(tensor.conj())):
        assert bits(materialized(lazy(plain.to(device)))) == bits(materialized(lazy(plain)))
    rounded = torch.zeros(5, dtype=torch.bfloat16, device=device)
    write_from_host(rounded, plain := numbers(5))
    assert bits(rounded) == bits(plain.to(torch.bfloat16))
    return compared


def order(device):
    """Copies are between what the current stream was given before and after, on any current stream."""
    torch.manual_seed(1)
    for stream in (None, torch.Stream(device)):
        for _ in range(3):
            with nullcontext() if stream is None else stream:
                x = torch.zeros(3000, device=device)
                for _ in range(4):
                    x.copy_(x + 1)
                host = host_copy(x)
                x.fill_(9)
                assert host.eq(4).all(), f"a copy of {host.unique().tolist()}; expected 4"
                y = torch.ones(3000, device=device)
                z = torch.zeros(3000, device=device)
                y.copy_(z, non_blocking=True)
                write_from_host(y, torch.full((3000,), 5.0))
                z.copy_(y, non_blocking=True)
                y.copy_(torch.zeros(3000, device=device), non_blocking=True)
                assert z.cpu().eq(5).all(), f"a copy of {z.cpu().unique().tolist()}; expected 5"
    return True


def order_without_waits(device):
    """What `order` says if a wait is left out: before copies, behind them, and of the host."""
    said = []
    for owner, name, instead in (
        (HostStaging, "_follow", lambda self: None),
        (torch.Stream, "wait_event", lambda self, event: None),
        (accelerators._Half, "copy", _without_record),
    ):
        accelerators._staging_of.cache_clear()
        with _replaced(owner, name, instead):
            try:
                order(device)
                said.append("")
            except AssertionError as error:
                said.append(str(error))
        torch.accelerator.synchronize()
    accelerators._staging_of.cache_clear()
    return said


def _without_record(half, stream, target, source):
    with stream:
        target.copy_(source, non_blocking=True)


def _replaced(owner, name, instead):
    if owner is not torch.Stream:
        return patch.object(owner, name, instead)
    original = accelerators.HostStaging.to_device

    class Blind:
        def __getattr__(self, attribute):
            return getattr(torch.accelerator, attribute)

        def current_stream(self, device):
            return torch.Stream(device)  # the wait goes to a stream that nobody uses

    def to_device(self, target, host):
        with patch.object(accelerators.torch, "accelerator", Blind()):
            original(self, target, host)

    return patch.object(accelerators.HostStaging, "to_device", to_device)


def network():
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(6, 24), nn.GELU(), nn.LayerNorm(24), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 5)
    )


def gradients(model, device, context=None):
    x, y = (
        torch.randn(40, 6, generator=torch.Generator().manual_seed(2)).to(device),
        (torch.arange(40) % 5).to(device),
    )
    model.zero_grad()
    with nullcontext() if context is None else context:
        loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    return [bits(p.grad) for p in model.parameters()]


def activations(device):
    """Gradients with activations on the flash are those with activations on the accelerator."""
    model, moved = network().to(device), []
    expected = gradients(model, device)
    node = UPDATE_NODE.with_codecs(activations=Codec.WINDOW32)
    for preset, options in (
        ("small", {"memory_bytes": 0}),
        ("small", {"memory_bytes": 20_000}),
        ("small_codec", {}),
    ):
        with open_device(preset, node=node if "codec" in preset else UPDATE_NODE) as flash:
            offloading = OffloadActivations(flash, min_bytes=1, **({"memory_bytes": 0} | options))
            for _ in range(2):
                assert gradients(model, device, offloading) == expected
            total = offloading.report().total
            assert total.offloaded_bytes > 0 and total.memory_bytes + total.read_bytes > 0
            moved.append(total.read_bytes)
    assert moved[0] > moved[1] >= 0 and moved[2] > 0
    return sum(moved)


def optimizers(device):
    """Steps of parameters on the accelerator are those of parameters of the CPU with the same gradients."""
    compared = 0
    for kind, options, half in (
        (AdamW, {"lr": 0.01, "max_norm": 0.1}, False), (AdamW, {"lr": 0.01, "overlap": True}, False),
        (AdamW, {"lr": 0.01}, True), (Muon, {"lr": 0.02}, False),
    ):  # fmt: skip
        ours, theirs = network().to(device), network()
        dtype = torch.bfloat16 if half else torch.float32
        matrices = [
            [p for p in m.to(dtype).parameters() if kind is not Muon or p.dim() == 2] for m in (ours, theirs)
        ]
        with open_device("tiny", node=UPDATE_NODE) as one, open_device("tiny", node=UPDATE_NODE) as other:
            optimizers = [kind(ps, device=d, **options) for ps, d in zip(matrices, (one, other), strict=True)]
            for step in range(3):
                generator = torch.Generator().manual_seed(step)
                for a, b in zip(*matrices, strict=True):
                    given = torch.randn(b.shape, generator=generator).to(dtype)
                    for p in (a, b):
                        p.grad = None
                        (p * given.to(p.device)).sum().backward()
                for optimizer in optimizers:
                    optimizer.step()
                for a, b in zip(*matrices, strict=True):
                    assert is_on_accelerator(a) and bits(a) == bits(b)
                    compared += a.numel()
            assert optimizers[0].report == optimizers[1].report
            states = [optimizer.state_dict()["state"] for optimizer in optimizers]
            for index, entry in states[1].items():
                for name, value in entry.items():
                    if isinstance(value, torch.Tensor):
                        assert bits(states[0][index][name]) == bits(value)
            with torch.no_grad():
                matrices[0][0].mul_(2)
                matrices[1][0].mul_(2)
            for optimizer in optimizers:
                optimizer.step()
                assert optimizer.stores == 2
            assert bits(matrices[0][0]) == bits(matrices[1][0])
    return compared


def checkpoints(device):
    """A checkpoint of tensors on the accelerator comes back to others there, and to the CPU."""
    state = {"a": numbers(5, 7).to(device), "b": numbers(3, dtype=torch.bfloat16).to(device).t()}
    with open_device("small", node=STORE_NODE) as flash, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of PyTorch: there is one process
        store = AppendedCheckpoints(flash)
        save(state, storage_writer=FlashWriter(store, "one"), no_dist=True)
        for place in (device, "cpu"):
            found = {
                name: torch.zeros(value.shape, dtype=value.dtype, device=place)
                for name, value in state.items()
            }
            load(found, storage_reader=FlashReader(store, "one"), no_dist=True)
            assert all(bits(found[name]) == bits(value) for name, value in state.items())
    return True


def samples(device):
    """A data set that is made of tensors of the accelerator."""
    images, labels = numbers(12, 5).to(device), (torch.arange(12) % 3).to(device)
    with open_device("tiny", node=UPDATE_NODE) as flash:
        data = FlashDataset((images, labels), flash)
        assert all(bits(data[n][0]) == bits(images[n]) and int(data[n][1]) == n % 3 for n in range(12))
    return True


def modules(device):
    """Gradients of all modules that PyTorch tests on each device, with its samples: as without flash.

    Left out are samples that the device cannot compute without flash either; the names of their modules come
    back as well.
    """
    # For comparisons of text, which PyTorch's kit of tests has and none of its samples needs.
    sys.modules.setdefault("expecttest", SimpleNamespace(TestCase=unittest.TestCase))
    from torch.testing._internal.common_modules import module_db

    compared, moved, left_out = 0, 0, []
    with open_device("small", node=UPDATE_NODE) as flash, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, about options of its samples
        for info in module_db:
            samples = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=True
            )
            for number, sample in enumerate(samples):
                name, made = f"{info.name} {number}", sample.constructor_input
                torch.manual_seed(1)
                module = info.module_cls(*made.args, **made.kwargs).to(device)
                try:
                    expected = gradients_of(module, sample.forward_input, device)
                except (RuntimeError, AttributeError):
                    left_out.append(info.name)
                    continue
                offloading = OffloadActivations(flash, memory_bytes=0, min_bytes=1)
                assert gradients_of(module, sample.forward_input, device, offloading) == expected, name
                compared += 1
                moved += offloading.report().total.read_bytes
    return compared, moved, left_out


def gradients_of(module, given, device, context=None):
    """Gradients of the parameters and of the inputs, of which the module gets copies that autograd saves."""
    torch.manual_seed(2)
    module.zero_grad()

    def leaf(tensor):
        return tensor.detach().to(device).requires_grad_(tensor.requires_grad)

    leaves = tree_map_only(torch.Tensor, leaf, (given.args, given.kwargs))
    with nullcontext() if context is None else context:
        arguments, options = tree_map_only(torch.Tensor, torch.clone, leaves)
        found = [x for x in tree_leaves(module(*arguments, **options)) if isinstance(x, torch.Tensor)]
    sum(x.abs().sum() for x in found if x.requires_grad).backward()
    inputs = [x for x in tree_leaves(leaves) if isinstance(x, torch.Tensor)]
    return [None if x.grad is None else bits(x.grad) for x in (*module.parameters(), *inputs)]


CHECKS = (round_trips, order, activations, optimizers, checkpoints, samples)
