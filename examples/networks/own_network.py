"""A network of one's own for the 8x8 digits, with batch normalisation and dropout.

`flashtrain train examples/networks/own_network.py:NETWORK` trains it.
"""

from flashtrain.training.layers import GELU, BatchNorm, Conv2d, Dropout, Linear, Reshape
from flashtrain.training.networks import Network

NETWORK = Network(
    name="own",
    input_shape=(8, 8),
    outputs=10,
    layers=(
        ("image", Reshape((8, 8), (8, 8, 1))),
        ("conv", Conv2d(1, 4, stride=2)),
        ("norm1", BatchNorm(4)),
        ("gelu1", GELU()),
        ("vector", Reshape((4, 4, 4), (64,))),
        ("hidden", Linear(64, 16)),
        ("norm2", BatchNorm(16)),
        ("gelu2", GELU()),
        ("dropout", Dropout(0.1)),
        ("output", Linear(16, 10)),
    ),
)
