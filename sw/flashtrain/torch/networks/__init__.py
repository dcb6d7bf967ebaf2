"""Networks of the literature from their public definitions, without weights.

`build` makes one of `NETWORKS` by name. The definitions are those of `transformers` and `torchvision`, which
the extra `flashtrain[networks]` brings; they are imported when a network is built.
"""

from flashtrain.torch.networks.catalogue import NETWORKS, build
from flashtrain.torch.networks.training_case import TrainingCase

__all__ = ["NETWORKS", "TrainingCase", "build"]
