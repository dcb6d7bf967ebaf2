"""torchvision is imported beside any PyTorch: with its own operators, or with ones that have no code."""

import subprocess
import sys
from pathlib import Path

import pytest

LOADS = """
import torch
library = torch.library.Library("torchvision", "FRAGMENT")
library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # twice: an error
own = True
"""
"""A package whose library loads, whatever the name of its file."""

DOES_NOT_LOAD = """
import torch
torch.library.register_fake("torchvision::nms")(lambda dets, scores, iou_threshold: dets)
own = False
"""

USE = """
from flashtrain.torch.networks.definitions import definitions
print(definitions("torchvision").own)
import torch
torch.ops.torchvision.nms
"""


@pytest.mark.parametrize(("source", "own"), [(LOADS, "True\n"), (DOES_NOT_LOAD, "False\n")])
def test_operators(tmp_path: Path, source: str, own: str):
    (tmp_path / "torchvision.py").write_text(source, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.stdout, result.stderr, result.returncode) == (own, "", 0)
