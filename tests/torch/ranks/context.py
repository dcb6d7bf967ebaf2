"""What ranks do under context parallelism: each has a part of the sequence, and attention joins the parts."""

from contextlib import contextmanager, nullcontext

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor.experimental import context_parallel
from torch.distributed.tensor.experimental._attention import set_rotate_method
from torch.distributed.tensor.experimental._context_parallel import _attention as theirs
from torch.nn.attention import SDPBackend, sdpa_kernel

from flashtrain.host import open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, OffloadActivations
from flashtrain.torch.ranks.shards import shard
from flashtrain.training.offload import Plan, PlannedTensor, Storage
from tests.torch.ranks.scenarios import correct_root, initialise, parts_of

SEQUENCE, WIDTH, HEADS = 32, 16, 2
WAYS = ("allgather", "alltoall", "math")
"""Rotations of the keys in the ring of causal attention, and attention whose keys DTensor gathers."""


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.given, self.joint, self.out = (
            nn.Linear(6, WIDTH),
            nn.Linear(WIDTH, 3 * WIDTH),
            nn.Linear(WIDTH, 5),
        )
        self.causal = causal

    def forward(self, x):
        x = self.given(x)
        parts = self.joint(x).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(x + seen.transpose(1, 2).flatten(-2)).log_softmax(-1)


@contextmanager
def ring_of_the_cpu():
    """The ring attention of PyTorch with the operation of its CPU, which PyTorch itself gives no ring.

    Autograd saves DTensors on parts of the sequence, as with the operations of accelerators.
    """
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default

    def distributed(results, mesh):
        return tuple(DTensor.from_local(one, mesh, [Shard(2)], run_check=False) for one in results)

    def ring(operation, args, options):
        mesh, (q, k, v) = args[0].device_mesh, (shard(one) for one in args[:3])
        _, causal = (*args[3:], 0.0, False)[:2]
        found = theirs._templated_ring_attention(mesh.get_group(), 2, operation, q, k, v, is_causal=causal)
        return distributed(found, mesh)

    def ring_back(operation, args, options):
        mesh = args[0].device_mesh
        gradient, q, k, v, out, logsumexp = (shard(one) for one in args[:6])
        found = theirs._templated_ring_attention_backward(
            mesh.get_group(),
            2,
            operation,
            gradient,
            "grad_out",
            q,
            k,
            v,
            out,
            logsumexp,
            args[7],
            dropout_p=0.0,
        )
        return distributed(found, mesh)

    theirs.custom_ops.update({forward: ring, backward: ring_back})
    try:
        yield
    finally:
        for operation in (forward, backward):
            del theirs.custom_ops[operation]


@contextmanager
def way_of(way):
    """A way of attention over ranks: the setting of PyTorch's context parallelism."""
    balanced, theirs._cp_options.enable_load_balance = theirs._cp_options.enable_load_balance, way != "math"
    set_rotate_method("allgather" if way == "math" else way)
    try:
        with sdpa_kernel(SDPBackend.MATH) if way == "math" else ring_of_the_cpu():
            yield
    finally:
        theirs._cp_options.enable_load_balance = balanced


def batch(step):
    random = torch.Generator().manual_seed(step)
    return torch.randn(3, SEQUENCE, 6, generator=random), torch.randint(5, (3, SEQUENCE), generator=random)


def loss_of(model, x, y):
    return nn.functional.nll_loss(model(x).flatten(0, 1), y.flatten())


def plan_of(rank, count, offloading):
    """A plan of this rank for what a pass has saved, of which it offloads a part; the bytes of the others."""
    sizes = [saved.nbytes for reference in offloading._pass.saved if (saved := reference()) is not None]
    numbers = range(rank, len(sizes), count)
    later = [*numbers[1:], None]
    tensors = tuple(
        PlannedTensor(
            f"saved/{n}",
            sizes[n],
            "raw",
            1.0,
            n,
            2 * len(sizes) - n,
            n + 1,
            None if by is None else f"saved/{by}",
        )
        for n, by in zip(numbers, later, strict=True)
    )
    plan = Plan("attention", "", "ours", False, Storage("flash", 1 << 20, 1e9, 1e9), tensors, 1e-5, 1 << 20)
    return plan, sum(sizes) - sum(tensor.bytes for tensor in tensors)


def in_ways(rank, count):
    """The bytes of activations that were offloaded, without a plan and by that of the rank, for each way."""
    return [beside_memory(rank, count, way) for way in WAYS]


def beside_memory(rank, count, way):
    """AdamW on the dies and activations on the flash, beside the same in memory."""
    mesh, sides, kept = init_device_mesh("cpu", (count,)), [], 0
    with open_device("small", node=UPDATE_NODE) as device, correct_root(), way_of(way):
        offloading = OffloadActivations(device, memory_bytes=1 << 10, min_bytes=1)
        for context in (offloading, nullcontext()):
            model = Attention(way != "math")
            fully_shard(model, mesh=mesh)
            initialise(model)
            if context is offloading:
                optimizer = AdamW(model.parameters(), lr=0.01, device=device)
            else:
                optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
            sides.append([model, optimizer, context])
        for step in range(3):
            for side in sides:
                model, optimizer, context = side
                x, y = batch(step)
                with context_parallel(mesh, buffers=[x, y], buffer_seq_dims=[1, 1]):
                    with context:
                        loss = loss_of(model, x, y)
                    if step == 0 and context is offloading:
                        plan, kept = plan_of(rank, count, offloading)
                        side[2] = OffloadActivations(device, plan)
                    loss.backward()
                if step == 0:
                    check_gradients(model, way)
                optimizer.step()
                optimizer.zero_grad()
            (weights, state), expected = (parts_of(model, optimizer) for model, optimizer, _ in sides)
            assert weights == expected[0], step
            assert state == {key: value for key, value in expected[1].items() if key in state}
        by_plan = sides[0][2].report()
        assert by_plan.kept == {"by the plan": 2 * kept}
        return offloading.report().total.offloaded_bytes, by_plan.total.offloaded_bytes // 2


def check_gradients(model, way):
    """Compare the gradients with those of the whole sequence in one process; sums have another order."""
    whole = Attention(way != "math")
    initialise(whole)
    with nullcontext() if way == "math" else sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        loss_of(whole, *batch(0)).backward()
    for parameter, expected in zip(model.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad.full_tensor(), expected.grad)
