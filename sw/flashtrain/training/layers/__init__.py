"""Layers of a neural network with explicit forward and backward passes, in NumPy.

A layer keeps nothing between the passes. Its forward pass returns the arrays for the backward pass by name.
The caller may send them to flash and read them back. See `Layer` for the contract.
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
