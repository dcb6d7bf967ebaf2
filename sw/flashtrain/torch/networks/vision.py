"""Classifiers of images as `torchvision` defines them."""

import torch
from torch.nn.functional import cross_entropy

from flashtrain.torch.networks.definitions import definitions
from flashtrain.torch.networks.training_case import TrainingCase

CLASSES = 1000
"""Of ImageNet."""
SIDE = 224
"""Pixels of an image, each way."""


def classifier(name: str, batch: int) -> TrainingCase:
    """A network of `torchvision.models` in training mode, with its cross-entropy."""
    model = definitions("torchvision.models").get_model(name, weights=None, num_classes=CLASSES).train()
    images, labels = torch.rand(batch, 3, SIDE, SIDE), torch.randint(CLASSES, (batch,))

    def loss(output: torch.Tensor) -> torch.Tensor:
        return cross_entropy(output, labels)

    return TrainingCase(model, loss, images)
