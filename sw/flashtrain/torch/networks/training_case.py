"""A model with what one training iteration of it needs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn


class TrainingCase(NamedTuple):
    """The arguments of `flashtrain.torch.capture`.

    - `loss`: of the output of the model.
    - `inputs`: a tensor, a sequence of positional arguments, or a mapping of keyword arguments.
    """

    model: nn.Module
    loss: Callable[[Any], torch.Tensor]
    inputs: object


def loss_of(output: Any) -> torch.Tensor:
    """The loss that a model of `transformers` has computed from its labels."""
    return output.loss
