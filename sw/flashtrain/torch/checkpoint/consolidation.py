"""A checkpoint of several ranks as one file for `torch.load`."""

import os
from pathlib import Path

import torch
from torch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
from torch.distributed.checkpoint.state_dict_loader import load

from .flash_reader import FlashReader


def consolidate(
    reader: FlashReader, path: str | os.PathLike, checkpoint_id: str | os.PathLike | None = None
) -> None:
    """Write a checkpoint to a file that `torch.load` reads: its state dictionary, with whole tensors.

    All ranks of the reader call it, and rank 0 writes. The file is there whole, or not at all.
    """
    writes = reader.ranks.rank == 0
    planner = _EmptyStateDictLoadPlanner(None if writes else frozenset())
    load({}, checkpoint_id=checkpoint_id, storage_reader=reader, planner=planner)

    def write() -> None:
        part = Path(f"{os.fspath(path)}.part")
        torch.save(planner.original_state_dict, part)
        part.replace(path)

    reader.ranks.agreed(write if writes else lambda: None)
