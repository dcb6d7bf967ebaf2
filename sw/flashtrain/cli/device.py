"""A device for training, opened by the names on the command line."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from flashtrain.host import Device, open_device
from flashtrain.spec import NodeTable, preset

from .console import Console
from .links import LINKS, announced

MEMORY_BYTES = 64 << 20
"""Tensor buffer of the command's devices."""


@contextmanager
def device_for(options: argparse.Namespace, node: NodeTable, console: Console) -> Iterator[Device]:
    """The device of `--preset` and `--link`, with the streams of `node`."""
    factory = announced(LINKS[options.link], console.step)
    with open_device(preset(options.preset), factory, node, memory_bytes=MEMORY_BYTES) as device:
        yield device
