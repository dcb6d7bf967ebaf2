"""torchvision beside a PyTorch that its compiled part was not built for.

The wheel on PyPI is linked to a PyTorch with CUDA. Beside a CPU build its library does not load, and its
operators are missing. The import fails at the first one that it adds a shape function to. The networks need
none of them, so their schemas suffice.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch

_SCHEMAS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}


def define_torchvision_operators() -> None:
    """Define the operators that torchvision's import expects, if its library does not bring them.

    For use before the first import of torchvision, and of packages that import it.
    """
    package = find_spec("torchvision")
    if package is None or package.origin is None or _loads(Path(package.origin).parent):
        return
    for name, schema in _SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            _library().define(name + schema)


@cache
def _library() -> torch.library.Library:
    """The definitions last as long as this object."""
    return torch.library.Library("torchvision", "FRAGMENT")


def _loads(folder: Path) -> bool:
    """Whether torchvision's library is there and loads; its own import loads it again, which does nothing."""
    try:
        torch.ops.load_library(next(folder.glob("_C.*")))
    except (StopIteration, OSError):
        return False
    return True
