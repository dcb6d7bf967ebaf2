"""Optimizers on the dies of several ranks, beside the same trainings in memory."""

import pytest

from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.torch import SGD, AdamW
from tests.torch.ranks.context import WAYS, in_ways
from tests.torch.ranks.pool import run
from tests.torch.ranks.scenarios import (
    activations,
    agreement_time,
    beside_memory,
    hybrid,
    matrices_undone,
    muon,
    on_rtl,
    pipeline,
    replicated,
    sharded,
    sharded_rows,
    tensor_parallel,
    undone,
    zero_redundancy,
)

ADAMW, SGDM = (AdamW, {"lr": 0.01}), (SGD, {"lr": 0.1, "momentum": 0.9})
MUON = muon, {"lr": 0.02}


@pytest.mark.parametrize(
    ("count", "build", "half", "kind", "overlap"),
    [
        (2, sharded, False, ADAMW, False), (4, sharded, False, ADAMW, True), (2, sharded, True, SGDM, True),
        (2, sharded, False, MUON, False), (4, sharded_rows, False, MUON, False),
        (4, hybrid, False, ADAMW, True),
        (2, replicated, False, ADAMW, False),
        (2, tensor_parallel, False, ADAMW, False), (2, tensor_parallel, False, ADAMW, True),
    ],
)  # fmt: skip
def test_beside_the_same_training_in_memory(fused_kernels, count, build, half, kind, overlap):
    """FSDP2 with accumulated gradients, from the meta device and in mixed precision; HSDP, DDP, and tensor
    parallelism. A step is skipped, and another one clipped; steps begin behind the backward pass or in it."""
    found = run(count, beside_memory, *kind, half, build, overlap)
    numbers = sum(n for n, _ in found)
    print(f"{count} ranks, {build.__name__}, {kind[0].__name__}: {numbers:,} numbers of 3 steps compared")
    assert len({norm for _, norm in found}) == 1


def test_parameters_of_each_rank(fused_kernels, tmp_path):
    """`ZeroRedundancyOptimizer`: an infinite gradient of one rank skips the step of all; a recovery."""
    found = run(2, zero_redundancy, str(tmp_path))
    assert len({norm for _, norm in found}) == 1
    print(f"ZeroRedundancyOptimizer: {sum(n for n, _ in found):,} numbers of 5 steps compared")


@pytest.mark.parametrize("count", [2, 4])
def test_stages_of_a_pipeline(fused_kernels, count):
    found = run(count, pipeline)
    assert len({norm for _, norm in found}) == 1
    print(f"pipeline of {count} ranks: {sum(n for n, _ in found):,} numbers of 4 steps compared")


def test_activations():
    """Those of FSDP2 on the flash: equal gradients, in FP32 and in mixed precision."""
    assert all(run(2, activations))


def test_context_parallelism(fused_kernels):
    """Activations and AdamW on the flash: rings of attention with collectives in the backward pass."""
    for way, *sides in zip(WAYS, *run(2, in_ways), strict=True):
        (every, first), (same, second) = sides
        assert every == same > max(first, second) and first != second
        print(f"context parallelism, {way}: a step offloads {every:,} bytes, by plans of the ranks {first:,}"
              f" and {second:,}; equal bits")  # fmt: skip


def test_steps_that_one_rank_cannot_commit():
    first, second = run(2, undone)
    assert first == second
    assert "rank 1: NoteTooLong: the notes of all streams have" in first[0]
    assert first[1] == "RankError: rank 1: CheckpointError: no page"


def test_matrices_that_one_rank_cannot_compute(fused_kernels):
    first, second = run(2, matrices_undone)
    assert first == second == ["RankError: rank 1: CheckpointError: no page"] * 3


def test_time_of_the_agreements():
    """Beside an all-reduce and a barrier of PyTorch; both wait for the other rank."""
    ((ours, bare), _) = run(2, agreement_time)
    print(f"a step's agreements take {ours:.2f} ms, an all-reduce and a barrier {bare:.2f} ms")


def test_rtl(fused_kernels):
    """FSDP2 with AdamW and with Muon on the dies, and activations on the flash, through the RTL of `tiny`."""
    found = run(2, on_rtl, RtlLink, seconds=600)
    print(f"two ranks on the RTL, AdamW and Muon: {sum(found):,} numbers of 2 steps each compared")
