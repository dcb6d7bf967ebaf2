"""Classifiers of images as `torchvision` defines them."""

from typing import Any

import torch
from torch.nn.functional import cross_entropy

from flashtrain.torch.networks.definitions import definitions
from flashtrain.torch.networks.training_case import TrainingCase

CLASSES = 1000
"""Of ImageNet."""
SIDE = 224
"""Pixels of an image, each way."""
AUXILIARY_WEIGHT = 0.3
"""Of the loss of each of GoogLeNet's auxiliary classifiers (Szegedy et al. 2015)."""


def classifier(name: str, batch: int) -> TrainingCase:
    """A network of `torchvision.models` in training mode, with its cross-entropy."""
    model = definitions("torchvision.models").get_model(name, weights=None, num_classes=CLASSES).train()
    images, labels = torch.rand(batch, 3, SIDE, SIDE), torch.randint(CLASSES, (batch,))

    def loss(output: torch.Tensor) -> torch.Tensor:
        return cross_entropy(output, labels)

    return TrainingCase(model, loss, images)


def googlenet(batch: int) -> TrainingCase:
    """GoogLeNet with both of its auxiliary classifiers, which exist in training only."""
    models = definitions("torchvision.models")
    model = models.googlenet(weights=None, num_classes=CLASSES, aux_logits=True, init_weights=False).train()
    images, labels = torch.rand(batch, 3, SIDE, SIDE), torch.randint(CLASSES, (batch,))

    def loss(output: Any) -> torch.Tensor:
        auxiliary = cross_entropy(output.aux_logits1, labels) + cross_entropy(output.aux_logits2, labels)
        return cross_entropy(output.logits, labels) + AUXILIARY_WEIGHT * auxiliary

    return TrainingCase(model, loss, images)
