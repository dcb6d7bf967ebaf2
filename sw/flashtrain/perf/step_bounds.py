"""Least time and energy of an optimizer step at each place, computed from a configuration without a device.

Erases are left out, and so are begin and end of a step. `flashtrain bench update_adam` and
`update_speedup_host` measure the same on the RTL, beside these bounds.
"""

from dataclasses import dataclass

from flashtrain.spec import FmsConfig

from .energy import Energy, EnergyModel, energy
from .update_bounds import Bound, elsewhere, on_dies
from .update_case import Case, WorkOf
from .update_lanes import lane_limits
from .update_places import HostLink


@dataclass(frozen=True)
class PlaceBound:
    """A step at one place: its bound, and its energy per parameter."""

    bound: Bound
    energy: Energy


@dataclass(frozen=True)
class StepBounds:
    """A step on the dies, in the controller with a lane for each die, and on the host."""

    dies: PlaceBound
    controller: PlaceBound
    host: PlaceBound


def step_bounds(
    config: FmsConfig, case: Case, link: HostLink, model: EnergyModel | None = None
) -> StepBounds:
    """The bounds of `case` on devices of `config`, with the host behind `link`."""
    g, tile = config.geometry, case.tile(config)

    def place(bound: Bound, work_of: WorkOf) -> PlaceBound:
        work = work_of(tile.parameters, g.planes, g.planes)
        return PlaceBound(bound, energy(config, work, model).per(tile.parameters))

    lanes = lane_limits(config, tile, g.channels * g.dies)
    return StepBounds(
        dies=place(on_dies(config, tile), case.work_on_dies),
        controller=place(elsewhere(config, tile, lanes), case.work_in_controller),
        host=place(elsewhere(config, tile, link.limits(config, tile)), case.work_on_host),
    )


def host_memory_rate(case: Case, bytes_per_second: float) -> float:
    """Parameters per second of a host's memory: state there and back, and gradients."""
    return bytes_per_second / (2 * case.state_bytes + case.gradient.bytes)
