"""Layers of a neural network with explicit forward and backward passes, in NumPy.

A layer keeps nothing between the passes. Its forward pass returns the arrays for the backward pass by name.
The caller may send them to flash and read them back. See `Layer` for the contract.
"""

from flashtrain.training.layers.activation import GELU, ReLU, Softmax
from flashtrain.training.layers.attention import SelfAttention
from flashtrain.training.layers.combine import Chain, Residual
from flashtrain.training.layers.convolution import Conv2d, MaxPool2d
from flashtrain.training.layers.dense import Linear, Reshape
from flashtrain.training.layers.draw import Draw
from flashtrain.training.layers.dropout import Dropout
from flashtrain.training.layers.embedding import Embedding, Positions
from flashtrain.training.layers.layer import Layer
from flashtrain.training.layers.loss import mean_squared_error, softmax_cross_entropy
from flashtrain.training.layers.normalisation import BatchNorm, LayerNorm

__all__ = [
    "GELU",
    "BatchNorm",
    "Chain",
    "Conv2d",
    "Draw",
    "Dropout",
    "Embedding",
    "Layer",
    "LayerNorm",
    "Linear",
    "MaxPool2d",
    "Positions",
    "ReLU",
    "Reshape",
    "Residual",
    "SelfAttention",
    "Softmax",
    "mean_squared_error",
    "softmax_cross_entropy",
]
