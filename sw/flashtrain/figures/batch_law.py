"""The time of a training iteration over the batch, by measurements of others.

`t(b) = t0 + b / peak`. The fixed time t0 is that of launches, of the framework and of the optimizer's step.
It does not grow with the batch, and grows with the layers of a network. The throughput is
`peak * b / (b + b_half)` with `b_half = t0 * peak`: at that batch it is half of the peak.

`throughput_by_batch.csv` has the measurements: iterations on one V100, with images of 224 pixels and more, or
texts of 384 tokens and more. With smaller inputs kernels wait for launches, and the law does not hold.
`layers` counts convolutions, or blocks of a transformer. `source` is a repository, a path in it and a commit.
"""

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

MEASURED = Path(__file__).with_name("throughput_by_batch.csv")
_SERIES = ("network", "layers", "size", "gpu", "precision", "framework", "source", "unit")


@dataclass(frozen=True)
class BatchLaw:
    """The law, fitted to the measurements of a network by one source.

    - `layers`: of the network; `size`: pixels or tokens of an example.
    - `points`: batch and throughput, in `unit`.
    - `fixed`: t0 in seconds.
    - `peak`: throughput of an endless batch.
    - `residual`: the largest relative difference between a measured time and the law.
    """

    network: str
    layers: int
    size: int
    gpu: str
    precision: str
    framework: str
    source: str
    unit: str
    points: tuple[tuple[int, float], ...]
    fixed: float
    peak: float
    residual: float

    @property
    def fixed_of_layer(self) -> float:
        """Seconds of t0 for each layer."""
        return self.fixed / self.layers

    @property
    def half(self) -> float:
        """The batch with half of the peak."""
        return self.fixed * self.peak


@cache
def batch_laws() -> tuple[BatchLaw, ...]:
    """All measured series, each with its law: least squares of relative differences of the times."""
    series = defaultdict[tuple[str, ...], list[tuple[int, float]]](list)
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            series[tuple(row[name] for name in _SERIES)].append((int(row["batch"]), float(row["throughput"])))
    return tuple(_law(names, points) for names, points in series.items())


def _law(names: tuple[str, ...], points: list[tuple[int, float]]) -> BatchLaw:
    network, layers, size, gpu, precision, framework, source, unit = names
    batches, throughputs = np.array(points).T
    times = batches / throughputs
    terms = np.stack([np.ones_like(times), batches]).T / times[:, None]
    (fixed, slope), *_ = np.linalg.lstsq(terms, np.ones_like(times))
    residual = np.abs(terms @ (fixed, slope) - 1).max()
    law = float(fixed), float(1 / slope), float(residual)
    origin = gpu, precision, framework, source, unit
    return BatchLaw(network, int(layers), int(size), *origin, tuple(points), *law)


def gain(half: float, batch: float, factor: float) -> float:
    """Throughput at `factor` times the batch over that at the batch."""
    return factor * (batch + half) / (factor * batch + half)


def half_for(gain: float, batch: float, factor: float) -> float:
    """The batch with half of the peak at which `factor` times the batch has that gain."""
    return batch * (gain - 1) * factor / (factor - gain)
