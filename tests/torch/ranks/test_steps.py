"""Optimizers on the dies of several ranks, beside the same trainings in memory."""

import pytest

from flashtrain.torch import SGD, AdamW
from tests.torch.ranks.pool import run
from tests.torch.ranks.scenarios import (
    activations,
    beside_memory,
    hybrid,
    replicated,
    sharded,
    tensor_parallel,
)

ADAMW, SGDM = (AdamW, {"lr": 0.01}), (SGD, {"lr": 0.1, "momentum": 0.9})


@pytest.mark.parametrize(
    ("count", "build", "half", "kind"),
    [
        (2, sharded, False, ADAMW), (4, sharded, False, ADAMW), (2, sharded, True, SGDM),
        (4, hybrid, False, ADAMW), (2, replicated, False, ADAMW), (2, tensor_parallel, False, ADAMW),
    ],
)  # fmt: skip
def test_beside_the_same_training_in_memory(fused_kernels, count, build, half, kind):
    """FSDP2 with accumulated gradients, from the meta device and in mixed precision; HSDP, DDP, and tensor
    parallelism. A step is skipped, and another one clipped."""
    found = run(count, beside_memory, *kind, half, build)
    numbers = sum(n for n, _ in found)
    print(f"{count} ranks, {build.__name__}, {kind[0].__name__}: {numbers:,} numbers of 3 steps compared")
    assert len({norm for _, norm in found}) == 1


def test_activations():
    """Those of FSDP2 on the flash: equal gradients, in FP32 and in mixed precision."""
    assert all(run(2, activations))
