"""The twelve workloads of Behemoth (FAST'21, slide "Evaluation workloads").

The slide gives totals for a row "i x j": i scales the batch, and i and j the layers. The totals of the GPT
rows follow from the closed form of a transformer with GPT-3's dimensions. Weights miss the slide by at most
1.2 %, which is an embedding, and activations and FLOPs by 0.6 %. The FLOPs of row 1x2 miss it by 3.3 %. No
closed form is known for the T5 rows, so their totals are split evenly over the layers.
"""

from dataclasses import dataclass
from typing import NamedTuple

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.workloads.workload import Workload


class Totals(NamedTuple):
    """A row of the slide: GB of weights, GB of activations, PFLOP per iteration."""

    weights_gb: float
    activations_gb: float
    pflop: float


SIZES = {"1x1": (1, 1), "1x2": (1, 2), "1x4": (1, 4), "2x1": (2, 1), "2x2": (2, 2), "2x4": (2, 4)}

PUBLISHED = {
    "gpt": {
        "1x1": Totals(44, 350, 2.15),
        "1x2": Totals(88, 698, 4.42),
        "1x4": Totals(175, 1393, 8.56),
        "2x1": Totals(88, 1395, 8.56),
        "2x2": Totals(175, 2786, 17.12),
        "2x4": Totals(349, 5569, 34.21),
    },
    "t5": {
        "1x1": Totals(40, 305, 0.62),
        "1x2": Totals(80, 609, 1.25),
        "1x4": Totals(160, 1218, 2.49),
        "2x1": Totals(80, 1218, 2.49),
        "2x2": Totals(160, 2436, 4.99),
        "2x4": Totals(319, 4871, 9.97),
    },
}

LAYERS = 12
"""Of row 1x1; with it the closed form meets the GPT rows, and the T5 rows take it as an assumption."""

GPT_PHI, T5_PHI = 0.12, 0.04
"""Assumptions, since the slides do not say which activations reach the flash.

With these shares FMS and SSDs differ by about the published 2.05 times, and the forward pass appends 47 to 53
GB/s, which fits the requirement of 50 GB/s. With all activations every row is bound by its storage.
"""


@dataclass(frozen=True)
class Transformer:
    """Dimensions of a transformer; the defaults are GPT-3's (Brown et al., 2020).

    `tokens_of_row`: tokens of an iteration in row 1x1, the value with which the closed form meets the slide.
    """

    hidden: int = 12288
    heads: int = 96
    sequence: int = 2048
    tokens_of_row: int = 16384

    def workload(self, name: str, i: int, j: int) -> Workload:
        """Row "i x j" in closed form: L = 12ij layers, T = 16384i tokens, numbers of 2 bytes.

        - Parameters of a layer: 12 h^2.
        - Bytes of activations of a layer: 2 T (24 h + 3 a s).
        - FLOPs of a layer: 6 x 12 h^2 T.
        """
        tokens = self.tokens_of_row * i
        parameters = 12 * self.hidden**2
        return Workload(
            name=name,
            layers=LAYERS * i * j,
            micro_batches=tokens // self.sequence,
            parameters=parameters,
            activation_bytes=2 * tokens * (24 * self.hidden + 3 * self.heads * self.sequence),
            flops=6 * parameters * tokens,
            phi=GPT_PHI,
        )


T5_MICRO_BATCHES = 8
"""Of row 1x1, as for GPT: an assumption."""


def _split(name: str, totals: Totals, i: int, j: int) -> Workload:
    """A row whose totals are split evenly over L = 12ij layers."""
    layers = LAYERS * i * j
    return Workload(
        name=name,
        layers=layers,
        micro_batches=T5_MICRO_BATCHES * i,
        parameters=round(totals.weights_gb * 1e9 / 2 / layers),
        activation_bytes=round(totals.activations_gb * 1e9 / layers),
        flops=round(totals.pflop * 1e15 / layers),
        phi=T5_PHI,
    )


WORKLOADS = {
    **{f"gpt {size}": Transformer().workload(f"gpt {size}", i, j) for size, (i, j) in SIZES.items()},
    **{f"t5 {size}": _split(f"t5 {size}", PUBLISHED["t5"][size], i, j) for size, (i, j) in SIZES.items()},
}
"""All twelve, by family and row."""


def behemoth_workload(name: str) -> Workload:
    """The workload of a name such as "gpt 2x4"; `PlatformError` names the known ones."""
    if name not in WORKLOADS:
        raise PlatformError(f"no workload {name!r}; expected one of {', '.join(WORKLOADS)}")
    return WORKLOADS[name]


def published(name: str) -> Totals:
    """The row of the slide that a workload stands for."""
    family, size = name.split()
    return PUBLISHED[family][size]
