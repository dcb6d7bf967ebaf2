"""The ways of an optimizer step on OptimStore's device: on the dies, in the controller, on the host.

Rates are the bounds of `flashtrain.perf.update_bounds`; `simulated` is of the performance model.
`flashtrain bench --preset optimstore` measures the same ways on RTL.
"""

from dataclasses import dataclass, replace

from flashtrain.figures.drives import DRIVES_READ, DRIVES_WRITE, drive_rates, has_drives
from flashtrain.figures.parts import Assumption, Values
from flashtrain.perf.update_bounds import Bound, elsewhere, on_dies
from flashtrain.perf.update_case import Case
from flashtrain.perf.update_places import PCIE_3_X4, HostLink
from flashtrain.platform.flash_step import simulated_step
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.optimizer import GradientFormat
from flashtrain.spec.timing import ns
from flashtrain.training.optimizers import OPTIMIZERS

NOT_PUBLIC = "not public"

FIVE = ("sgd", "momentum", "nesterov", "adam", "adamw")
"""The optimizers whose means stand beside the published ones."""

LINK = Assumption(
    "link_gb_per_s", PCIE_3_X4.bytes_per_second / 1e9, 3, 16, "GB/s", f"each way, PCIe 3.0 x4; {NOT_PUBLIC}"
)
HOST = Assumption("host_gb_per_s", 20, 10, 100, "GB/s", "memory of the host, for its update; an assumption")
CHANNELS = Assumption("channels", 8, 4, 16, "", f"of the device; {NOT_PUBLIC}")
DIES = Assumption("dies", 4, 2, 8, "", f"of a channel; {NOT_PUBLIC}")
SENSE = Assumption("tr_us", 30, 10, 50, "µs", "pSLC part of preset optimstore")
PROGRAM = Assumption("tprog_us", 100, 75, 300, "µs", "pSLC part of preset optimstore")
GRADIENT = Assumption("gradient_bytes", 4, 2, 4, "bytes", "of a gradient: FP32, or BF16 with 2")

DEVICE = (CHANNELS, DIES, SENSE, PROGRAM, GRADIENT)
SHARED = (LINK, HOST, *DEVICE)


@dataclass(frozen=True)
class Ways:
    """Bounds of a step of an optimizer with some values of the assumptions `SHARED`."""

    values: Values
    optimizer: str = "adam"

    @property
    def config(self) -> FmsConfig:
        v, base = self.values, preset("optimstore")
        geometry = replace(base.geometry, channels=round(v["channels"]), dies=round(v["dies"]))
        timing = replace(base.timing, tr=ns(1000 * v["tr_us"]), tprog=ns(1000 * v["tprog_us"]))
        return replace(base, name="optimstore_figure", geometry=geometry, timing=timing)

    @property
    def case(self) -> Case:
        gradient = GradientFormat.FP32 if self.values["gradient_bytes"] > 2 else GradientFormat.BF16
        return Case(OPTIMIZERS[self.optimizer], gradient)

    @property
    def dies(self) -> Bound:
        config = self.config
        return on_dies(config, self.case.tile(config))

    @property
    def simulated(self) -> float:
        """Parameters per second on the dies of the performance model."""
        return simulated_step(self.config, self.case.code, self.case.gradient)

    @property
    def controller(self) -> Bound:
        """As many update lanes as there are dies: the buses bound it first."""
        config = self.config
        return elsewhere(config, self.case.tile(config), {})

    @property
    def host(self) -> Bound:
        """The host reads state and gradient of a parameter from its memory, and writes the state back.

        With drives, the state comes from them and returns to them. Both share their time.
        """
        v, config, case = self.values, self.config, self.case
        memory_bytes = 2 * case.state_bytes + case.gradient.bytes
        host_rate = v["host_gb_per_s"] * 1e9 / memory_bytes
        if has_drives(v):
            read, write = drive_rates(v)
            drives = 1 / (case.state_bytes / read + case.state_bytes / write)
            return Bound.of({"drives": drives, "memory of the host": host_rate})
        link = HostLink(v["link_gb_per_s"] * 1e9, parameters_per_second=host_rate)
        tile = case.tile(config)
        return elsewhere(config, tile, link.limits(config, tile))

    @property
    def over_host(self) -> float:
        return self.dies.parameters_per_second / self.host.parameters_per_second

    @property
    def over_controller(self) -> float:
        return self.dies.parameters_per_second / self.controller.parameters_per_second

    def with_link(self, gb_per_s: float) -> "Ways":
        """With a link of another rate to the host; with drives, as many as read so much."""
        if not has_drives(self.values):
            return self.changed(link_gb_per_s=gb_per_s)
        read, write = drive_rates(self.values)
        return self.changed(**{DRIVES_READ: gb_per_s, DRIVES_WRITE: gb_per_s * write / read})

    def changed(self, **values: float) -> "Ways":
        return Ways({**self.values, **values}, self.optimizer)
