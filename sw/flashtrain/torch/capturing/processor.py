"""A processor whose durations follow from its rates."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from flashtrain.torch.capturing.work import Work
from flashtrain.torch.errors import CaptureError


@dataclass(frozen=True)
class Processor:
    """A roofline: each operation takes the longer of two times, that of its FLOPs and that of its bytes.

    - `flops_per_second`: of matrix products and convolutions.
    - `bytes_per_second`: of the memory; without a bound by default.
    """

    flops_per_second: float
    bytes_per_second: float = inf

    def __post_init__(self) -> None:
        for name in ("flops_per_second", "bytes_per_second"):
            if not getattr(self, name) > 0:
                raise CaptureError(f"processor: {name} is {getattr(self, name)}; expected more than 0")

    def seconds(self, work: Iterable[Work]) -> float:
        """The time of operations one after the other."""
        return sum(max(flops / self.flops_per_second, size / self.bytes_per_second) for flops, size in work)

    def memory_seconds(self, work: Iterable[Work]) -> float:
        """The part of `seconds` beyond the time of the FLOPs: operations that the memory bounds."""
        return sum(
            max(0.0, size / self.bytes_per_second - flops / self.flops_per_second) for flops, size in work
        )


V100 = Processor(flops_per_second=14e12, bytes_per_second=900e9)
"""NVIDIA's data sheet of the Tesla V100 PCIe: single precision, and the bandwidth of its HBM2."""
