"""Kernels in C++ for most of the data: equal to the NumPy of `flashtrain.numerics`, bit for bit.

codec.py   the window code of whole appends
tiles.py   optimizer steps of tiles, and the statistics of their gradients

The NumPy is the reference: it says what is right, and oracles compare with it.
"""
