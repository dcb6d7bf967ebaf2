"""Layers of a neural network with explicit forward and backward passes, in NumPy.

A layer keeps nothing between the passes. What its backward pass will need it returns from its forward pass as
named arrays, and the caller is free to send them to flash and to bring them back. See `Layer` for the
contract.
"""

from flashtrain.training.layers.attention import LayerNorm, Positions, SelfAttention
from flashtrain.training.layers.combine import Chain, Residual
from flashtrain.training.layers.convolution import Conv2d, MaxPool2d
from flashtrain.training.layers.dense import Linear, ReLU, Reshape
from flashtrain.training.layers.layer import Layer
from flashtrain.training.layers.loss import softmax_cross_entropy

__all__ = [
    "Chain",
    "Conv2d",
    "Layer",
    "LayerNorm",
    "Linear",
    "MaxPool2d",
    "Positions",
    "ReLU",
    "Reshape",
    "Residual",
    "SelfAttention",
    "softmax_cross_entropy",
]
