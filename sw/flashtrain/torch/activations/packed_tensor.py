"""A saved tensor as the graph holds it."""

import torch

from .change_counter import ChangeCounter
from .saved_storage import SavedStorage
from .view_layout import ViewLayout


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

    def __init__(
        self,
        label: str,
        counter: ChangeCounter,
        layout: ViewLayout | None,
        saved: SavedStorage | None,
        kept: torch.Tensor | None,
    ) -> None:
        self.label = label
        self.counter = counter
        self.layout = layout
        self.saved = saved
        self.kept = kept
        self.is_used = False
