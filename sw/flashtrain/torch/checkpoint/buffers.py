"""Buffers of a model as a part of a :class:`HostState`: no optimizer changes them, but training does."""

from typing import Any

import torch
from torch import nn

from .tensor_arrays import array_of, tensor_of


class Buffers:
    """The buffers that `model` saves, such as the running means of batch normalisation.

    The note of a commit has room for small ones; see `Journal.note_bytes`.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model

    def state_dict(self) -> dict[str, Any]:
        saved = self._model.state_dict()
        return {name: array_of(saved[name]) for name, _ in self._model.named_buffers() if name in saved}

    @torch.no_grad()
    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        for name, buffer in self._model.named_buffers():
            if name in state_dict:
                buffer.copy_(tensor_of(state_dict[name], buffer.dtype, tuple(buffer.shape)))
