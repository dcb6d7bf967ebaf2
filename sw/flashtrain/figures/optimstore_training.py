"""A training iteration around OptimStore's step: forward and backward passes from the platform."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from flashtrain.figures.drives import drive_rates, has_drives
from flashtrain.figures.optimstore_ways import SHARED, Ways
from flashtrain.figures.parts import Assumption, Values
from flashtrain.perf.update_case import Case
from flashtrain.platform.models import IdealModel
from flashtrain.platform.nodes import Node, Platform
from flashtrain.platform.report import run_iteration
from flashtrain.platform.workloads import Workload, workload_sequence

TFLOPS = Assumption("tflops", 100, 50, 200, "TFLOP/s", "of the accelerator; not public")
BATCH = Assumption("sequences", 32, 16, 64, "", "of 1024 tokens in an iteration; not public")
TRAINING = (TFLOPS, BATCH, *SHARED)

GPT2_XL = {"layers": 48, "hidden": 1600, "sequence": 1024}
"""GPT-2 XL (Radford et al., 2019): the network that the figures train."""


@lru_cache(maxsize=64)
def _passes(workload: Workload, flops_per_second: float, link_bytes_per_second: float) -> float:
    """Seconds until the end of the backward pass. Many values differ in an assumption of the device alone."""
    node = Node(
        flops_per_second=flops_per_second,
        link_bytes_per_second=link_bytes_per_second,
        storage=IdealModel(),
    )
    report = run_iteration(workload_sequence(workload), Platform(node, node))
    return report.phases["backward"][1]


@dataclass(frozen=True)
class Iteration:
    """An iteration of GPT-2 XL whose state is on the device, with values of the assumptions `TRAINING`.

    Weights of two bytes go over the link for both passes. Activations stay in the accelerator. The update
    follows the passes, since it waits for the norm of all gradients.
    """

    values: Values

    @cached_property
    def workload(self) -> Workload:
        parameters = 12 * GPT2_XL["hidden"] ** 2
        sequences = round(self.values["sequences"])
        return Workload(
            name="gpt-2 xl",
            layers=GPT2_XL["layers"],
            micro_batches=sequences,
            parameters=parameters,
            activation_bytes=sequences,
            flops=6 * parameters * sequences * GPT2_XL["sequence"],
            phi=1,
        )

    @property
    def parameters(self) -> int:
        return self.workload.layers * self.workload.parameters

    @cached_property
    def passes(self) -> float:
        """Seconds of forward and backward pass on a platform whose weights come over the link."""
        return self._passes(self.values["link_gb_per_s"] * 1e9)

    @cached_property
    def passes_on_host(self) -> float:
        """The same with the update on the host: with drives, weights come from them."""
        return self._passes(drive_rates(self.values)[0]) if has_drives(self.values) else self.passes

    def _passes(self, link_bytes_per_second: float) -> float:
        return _passes(self.workload, self.values["tflops"] * 1e12, link_bytes_per_second)

    @property
    def ways(self) -> Ways:
        return Ways(self.values)

    @property
    def on_dies(self) -> float:
        """Seconds of an iteration with the update on the dies."""
        return self.passes + self.parameters / self.ways.dies.parameters_per_second

    @property
    def on_host(self) -> float:
        """Seconds of an iteration with the update on the host."""
        return self.passes_on_host + self.parameters / self.ways.host.parameters_per_second

    @property
    def speedup(self) -> float:
        return self.on_host / self.on_dies

    def life(self, commands: Sequence[Case], cycles: float) -> float:
        """Iterations until every block has had so many cycles.

        Each of the commands of a step programs the state that it changes, of all parameters, once.
        """
        config = self.ways.config
        programmed = sum(config.geometry.page_set_bytes / case.tile(config).parameters for case in commands)
        return config.geometry.capacity_bytes * cycles / (self.parameters * programmed)
