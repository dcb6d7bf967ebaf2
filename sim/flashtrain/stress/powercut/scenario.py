"""A run whose power is cut, and the judgement of what its device has afterwards."""

from collections.abc import Callable
from typing import Protocol

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, NodeTable

from .survival import Survival


class Scenario(Protocol):
    """One run, which follows from its seed alone.

    on_append: called before an append that outlasts a loss of power.
    """

    on_append: Callable[[], None]

    def node(self, config: FmsConfig) -> NodeTable:
        """The streams of its device, which has this configuration."""
        ...

    def run(self, device: Device) -> None:
        """Carry it out on a device that was just formatted."""
        ...

    def judge(self, device: Device, survival: Survival) -> None:
        """Judge a device after its recovery: its data, and whether it works on. :class:`Lost`."""
        ...


ScenarioMaker = Callable[[int, int], Scenario]
"""Makes the scenario of a seed and a number of iterations."""
