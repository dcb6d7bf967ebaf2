"""A network of one's own, trained with every tensor in flash.

Run it with `python examples/train_own_network.py [functional|rtl]`; train_own_network.txt has its output.
"""

import sys

from flashtrain.cli.links import LINKS
from flashtrain.host import open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.data import digits
from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.layers import Linear, ReLU, Reshape
from flashtrain.training.networks import Network
from flashtrain.training.optimizers import Adam
from flashtrain.training.reference import train_reference
from flashtrain.training.report import training_report
from flashtrain.training.tensors import DeviceStorage

link = LINKS[sys.argv[1] if len(sys.argv) > 1 else "functional"].factory

network = Network(
    name="three layers",
    input_shape=(8, 8),
    outputs=10,
    layers=(
        ("vector", Reshape((8, 8), (64,))),
        ("first", Linear(64, 32)),
        ("relu1", ReLU()),
        ("second", Linear(32, 32)),
        ("relu2", ReLU()),
        ("third", Linear(32, 10)),
    ),
)
arguments = {
    "network": network,
    "data": digits(),
    "optimizer": Adam(),
    "batch": 64,
    "iterations": 40,
    "seed": 1,
}

reference = train_reference(**arguments)
# This node has streams for optimizer state, which the dies update.
with open_device("small", link, UPDATE_NODE) as device:
    result = train_through_flash(**arguments, storage=DeviceStorage.on(device))
print(training_report(network, arguments["data"].test, result, reference).text())
