"""The rows of the drive on PCI Express."""

import time
from dataclasses import dataclass, replace

from flashtrain.perf.append import ASKED
from flashtrain.perf.measurement import Cost, Result
from flashtrain.spec import preset

from .bench_settings import Settings
from .console import Console

LINK = "rtl"


@dataclass(frozen=True)
class PcieSpeed:
    """The row `name`; its rate must be that of the row `without` PCI Express, if there is one."""

    name: str
    without: str = ""

    def __call__(self, configuration: str, settings: Settings, console: Console) -> Result:
        # Late: the hardware's language takes a moment to import.
        from . import pcie_rates

        config = preset(configuration)
        base = None
        if self.without:
            console.step(f"{self.without} on {configuration}, without PCI Express")
            base = pcie_rates.measure_without(self.without, config, settings.quick)
            console.step(f"{self.name} on {configuration}, with it")
        started = time.process_time()
        measured = pcie_rates.measure(self.name, config, settings.quick)
        if base is not None:
            share = measured.value / base.value
            asked = f"{ASKED:.0%} of {self.without}"
            note = f"{share:.2%} of {base.value:.3f} {base.unit} without PCI Express; {measured.note}"
            measured = replace(measured, bound=base.bound, asked=asked, met=share >= ASKED, note=note)
        cost = Cost(time.process_time() - started, 0)
        return Result.of(self.name, configuration, LINK, cost, measured)


ROWS = (
    PcieSpeed("pcie_append", "append_erased"),
    PcieSpeed("pcie_read", "read_sequential"),
    PcieSpeed("pcie_command_time_write"),
    PcieSpeed("pcie_command_time_read"),
    PcieSpeed("pcie_latency_write"),
    PcieSpeed("pcie_latency_read"),
)
