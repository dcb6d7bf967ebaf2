"""The same optimizer step on the dies, in the controller and on the host, side by side."""

from typing import Any

from flashtrain.host import open_device
from flashtrain.perf.update import Case, bound
from flashtrain.perf.update_comparison import Ways, compare
from flashtrain.perf.update_elsewhere import HostLink
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Optimizer

from .console import Console
from .device import memory_bytes
from .links import LINKS


def three_ways(config: FmsConfig, optimizer: Optimizer, console: Console) -> "ThreeWays":
    """Measure them on the RTL, with enough parameters for all dies."""
    from flashtrain.sim.trace_array import ArrayTrace

    case, ways = Case(optimizer), []
    for link in (None, HostLink()):
        console.step(f"a step of {optimizer.name} on the dies and {_where(link)}")
        with open_device(config, LINKS["rtl"].factory, UPDATE_NODE, memory_bytes(config)) as device:
            ways.append(compare(device, ArrayTrace(device.link), case, link, quick=False))
    return ThreeWays(config, ways)


class ThreeWays:
    """Parameters per second of each, in the steady state."""

    def __init__(self, config: FmsConfig, ways: list[Ways]) -> None:
        case = ways[0].case
        self._name = case.optimizer.name
        self._bound = bound(config, case.tile(config))
        self._rates = {"on the dies": ways[0].on_dies.parameters_per_second}
        for way in ways:
            self._rates[_where(way.link)] = way.elsewhere.parameters_per_second

    def text(self) -> str:
        on_dies = self._rates["on the dies"]
        lines = [f"a step of {self._name}, three ways, parameters per second with all dies busy"]
        for where, rate in self._rates.items():
            share = f"{rate / self._bound:.1%} of the bound"
            notes = share if rate == on_dies else f"{share}, {on_dies / rate:.2f} times as long"
            lines.append(f"{rate / 1e6:9.1f} M/s  {where}: {notes}")
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        return {"bound": self._bound, **self._rates}


def _where(link: HostLink | None) -> str:
    if link is None:
        return "in the controller"
    return f"on the host, over a link of {link.bytes_per_second / 1e9:g} GB/s"
