"""A processor that trains, whose durations follow from its rates."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from flashtrain.training.errors import OffloadError


class Work(NamedTuple):
    """FLOPs of matrix products and convolutions, a multiplication and an addition each counting as one; and
    bytes of all arguments and results, each once."""

    flops: float
    bytes: float


@dataclass(frozen=True)
class Processor:
    """A roofline: a kernel takes the longest of the times of its FLOPs, of its bytes and of its launch.

    - `flops_per_second`: of matrix products and convolutions.
    - `bytes_per_second`: of the memory; without a bound by default.
    - `launch_seconds`: the least time of a kernel.
    """

    flops_per_second: float
    bytes_per_second: float = inf
    launch_seconds: float = 0.0

    def __post_init__(self) -> None:
        for name in ("flops_per_second", "bytes_per_second"):
            if not getattr(self, name) > 0:
                raise OffloadError(f"processor: {name} is {getattr(self, name)}; expected more than 0")
        if not 0 <= self.launch_seconds < inf:
            raise OffloadError(f"processor: launch_seconds is {self.launch_seconds}; expected 0 or more")

    def seconds(self, work: Iterable[Work]) -> float:
        """The time of kernels one after the other."""
        return sum(
            max(flops / self.flops_per_second, size / self.bytes_per_second, self.launch_seconds)
            for flops, size in work
        )

    def beyond_flops(self, work: Iterable[Work]) -> float:
        """The part of `seconds` beyond the time of the FLOPs: kernels that memory or launches bound."""
        return sum(
            max(0.0, max(size / self.bytes_per_second, self.launch_seconds) - flops / self.flops_per_second)
            for flops, size in work
        )


V100 = Processor(flops_per_second=14e12, bytes_per_second=900e9)
"""NVIDIA's data sheet of the Tesla V100 PCIe: single precision, and the bandwidth of its HBM2."""
