"""A network of one's own for the 8x8 digits, with batch normalisation and dropout.

    flashtrain train examples/networks/own_network.py:NETWORK
"""

from flashtrain.training.layers import GELU, BatchNorm, Conv2d, Dropout, Linear, Reshape
from flashtrain.training.networks import Network

NETWORK = Network(
    name="own",
    input_shape=(8, 8),
    outputs=10,
    layers=(
        ("image", Reshape((8, 8), (8, 8, 1))),
        ("conv", Conv2d(1, 8, stride=2)),
        ("norm1", BatchNorm(8)),
        ("gelu1", GELU()),
        ("vector", Reshape((4, 4, 8), (128,))),
        ("hidden", Linear(128, 32)),
        ("norm2", BatchNorm(32)),
        ("gelu2", GELU()),
        ("dropout", Dropout(0.25)),
        ("output", Linear(32, 10)),
    ),
)
