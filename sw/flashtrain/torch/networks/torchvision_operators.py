"""torchvision beside a PyTorch that its compiled part was not built for.

The wheel on PyPI is linked to a PyTorch with CUDA. Beside a CPU build its library does not load, and its
operators are missing. The import fails at the first one that it adds a shape function to. The networks need
none of them, so their schemas suffice.
"""

from functools import cache
from importlib import import_module

import torch

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}


def import_torchvision() -> None:
    """Import torchvision, with operators that have no code if its own library does not load.

    For use before the first import of a package that imports torchvision. A library that loads defines the
    operators itself, and ends the process if they are defined. So the plain import goes first.
    `ModuleNotFoundError` if torchvision is not installed.
    """
    try:
        import_module("torchvision")
    except RuntimeError:  # "operator torchvision::nms does not exist"
        _define_operators()
        import_module("torchvision")


@cache
def _define_operators() -> torch.library.Library:
    """The missing operators; the definitions last as long as the returned object."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name, schema in _SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            library.define(name + schema)
    return library
