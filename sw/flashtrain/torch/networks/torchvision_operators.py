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


@cache
def torchvision_operators() -> "torch.library.Library | None":
    """Define the operators that torchvision's import expects, if its library does not bring them.

    For use before the first import of torchvision, and of packages that import it. The definitions last as
    long as the result, which the cache keeps.
    """
    package = find_spec("torchvision")
    if package is None or package.origin is None or _load(Path(package.origin).parent):
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name, schema in _SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            library.define(name + schema)
    return library


def _load(folder: Path) -> bool:
    """Whether torchvision's library is there and loads; its own import loads it again, which does nothing."""
    try:
        torch.ops.load_library(next(folder.glob("_C.*")))
    except (StopIteration, OSError):
        return False
    return True
