"""A saved tensor as the graph holds it."""

from dataclasses import dataclass

import torch

from flashtrain.torch.change_counter import ChangeCounter

from .saved_storage import SavedStorage
from .view_layout import ViewLayout


@dataclass(eq=False)
class PackedTensor:
    """A saved tensor in the graph: where it lies in its storage, or itself if it stays in memory.

    Members
    -------
    label: the tensor and its module, for messages.
    counter: of the changes of its data.
    layout: how it lies in its storage.
    saved: its storage; None for tensors that are not counted, such as parameters.
    kept: the tensor, if it stays in memory; None if its storage brings it.
    is_used: the backward pass has needed it.
    """

    label: str
    counter: ChangeCounter
    layout: ViewLayout | None
    saved: SavedStorage | None
    kept: torch.Tensor | None
    is_used: bool = False
