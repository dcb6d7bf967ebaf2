"""Training neural networks whose tensors live in flash.

The layers, networks, optimizers and data of this package are plain NumPy and know nothing of storage. A
training command sequence (`sequence`) says which tensor goes where and when; `flash_training` carries it out
on a device.
"""
