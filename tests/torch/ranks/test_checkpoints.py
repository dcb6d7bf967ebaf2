"""Distributed checkpoints of several ranks, each with its device."""

import pytest
import torch

from tests.torch.compare import bits
from tests.torch.ranks.checkpoints import SAVED, full_state, loaded, optimizer_saved, saved
from tests.torch.ranks.pool import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of four devices with checkpoints of four ranks."""
    folder = tmp_path_factory.mktemp("images")
    for said, whole, pruned, fewer, names in run(SAVED, saved, str(folder)):
        assert said == ["no page", "there is a checkpoint 'run/3' of stream 'trained' already"]
        assert whole == ["run/1", "run/2", "run/3"] and pruned == ["run/1"] and fewer > 0
        assert names == ["run/2", "run/3"]
    return folder


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_loads_on_other_numbers_of_ranks(folder, count):
    found = run(count, loaded, str(folder))
    assert len(set(found)) == 1
    (missing, unknown) = found[0]
    assert "checkpoint 'run/3' has no part 'run/3 [rank 3 of 4, save" in missing
    assert "no checkpoint 'run/9' on the devices of the ranks; they have" in unknown
    file = torch.load(folder / f"{count}.pt")
    assert file["step"] == 2 and file["by rank"] == {f"r{rank}": rank for rank in range(SAVED)}
    for name, tensor in full_state(2).items():
        assert bits(file["tensors"][name]) == bits(tensor)


def test_optimizers(tmp_path):
    assert run(2, optimizer_saved, str(tmp_path)) == [2, 2]
