"""The same optimizer step on the dies, in the controller and on the host, side by side."""

from typing import Any

from flashtrain.host import open_device
from flashtrain.perf.update_bounds import Bound
from flashtrain.perf.update_case import Case
from flashtrain.perf.update_comparison import Comparison, compare
from flashtrain.perf.update_lanes import ControllerLanes
from flashtrain.perf.update_places import PCIE_3_X4
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Optimizer

from .console import Console
from .device import memory_bytes
from .links import LINKS


def compare_places(config: FmsConfig, optimizer: Optimizer, console: Console) -> "PlacesCompared":
    """Measure them on the RTL, with enough parameters for all dies."""
    from flashtrain.sim.trace.array import ArrayTrace
    from flashtrain.sim.update_lane.update_lane import update_lanes

    with (
        update_lanes(config) as lanes,
        open_device(config, LINKS["rtl"].factory, UPDATE_NODE, memory_bytes(config)) as device,
    ):
        places = (ControllerLanes(lanes), PCIE_3_X4)
        console.step(f"a step of {optimizer.name} on the dies, {', '.join(place.where for place in places)}")
        return PlacesCompared(compare(device, ArrayTrace(device.link), Case(optimizer), places))


class PlacesCompared:
    """Parameters per second of each, in the steady state."""

    def __init__(self, found: Comparison) -> None:
        self._found = found

    def text(self) -> str:
        found = self._found
        lines = [
            f"a step of {found.case.optimizer.name}, at three places: parameters per second, all dies busy",
            self._line("on the dies", found.on_dies.parameters_per_second, found.bound_on_dies),
        ]
        for place, run in found.elsewhere.items():
            line = self._line(place.where, run.parameters_per_second, found.bound(place))
            lines.append(f"{line}, {found.speedup(place):.2f} times as long")
        lines += [f"{place.where}: {run.computing}" for place, run in found.elsewhere.items()]
        return "\n".join(lines)

    def _line(self, where: str, rate: float, bound: Bound) -> str:
        share = rate / bound.parameters_per_second
        return f"{rate / 1e6:9.1f} M/s  {where}: {share:.1%} of the bound of the {bound.part}"

    def document(self) -> dict[str, Any]:
        found = self._found
        rates = {place.where: run.parameters_per_second for place, run in found.elsewhere.items()}
        bound = found.bound_on_dies.parameters_per_second
        return {"bound": bound, "on the dies": found.on_dies.parameters_per_second, **rates}
