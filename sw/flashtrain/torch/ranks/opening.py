"""`open_rank_device`: the devices of all ranks, opened together or not at all."""

from pathlib import Path
from typing import Any

import torch.distributed as dist

from flashtrain.host import Device, open_device

from .errors import RankError
from .rank_group import RankGroup


def open_rank_device(
    *arguments: Any, group: "dist.ProcessGroup | None" = None, image: str | Path | None = None, **options: Any
) -> Device:
    """`open_device` on each rank, of a process group or of all of `torch.distributed`.

    A `{rank}` in `image` becomes the number of the rank, so each has a file of its own. :class:`RankError` on
    all ranks if one cannot open its device, such as an image that another one has open; the others are closed
    then.
    """
    ranks = RankGroup(group)
    path = None if image is None else str(image).replace("{rank}", str(ranks.rank))
    opened: list[Device] = []
    try:
        ranks.agreed(lambda: opened.append(open_device(*arguments, image=path, **options)))
    except RankError:
        for device in opened:
            device.close()
        raise
    return opened[0]
