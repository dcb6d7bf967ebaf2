"""The workload `step_bounds`: an optimizer step on the dies, in the controller, on the host, by formulas."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from flashtrain.perf.step_bounds import PlaceBound, host_memory_rate, step_bounds
from flashtrain.perf.update_case import Case
from flashtrain.perf.update_places import HostLink
from flashtrain.spec.limits import integer
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.sweep.limits import Options, Value, choice, members, number
from flashtrain.sweep.point import Point, Workload
from flashtrain.training.optimizers import OPTIMIZERS, Optimizer

GIGA = 1e9


@dataclass(frozen=True)
class StepOptions(Options):
    """The step and its host; see each field's limits. The host's memory is an assumption of `HostLink`."""

    optimizer: Optimizer = choice(OPTIMIZERS, "adam", "of the step")
    gradient: GradientFormat = choice(members(GradientFormat), "fp32", "format of the gradients")
    copy: CopyFormat = choice(members(CopyFormat), "none", "format of the copies of the new weights")
    parameters: int = integer(1, 10**15, "", "parameters of the step", 10**9)
    link_gbs: float = number(
        0.001, 10_000, "GB/s", "link to the host, each way", HostLink.bytes_per_second / GIGA
    )
    host_gbs: float = number(0.001, 1e6, "GB/s", "memory bandwidth of the host's step", 20)


def _measure(point: Point) -> Mapping[str, Value]:
    options = point.options
    assert isinstance(options, StepOptions)
    case = Case(options.optimizer, options.gradient, options.copy)
    link = HostLink(
        options.link_gbs * GIGA, parameters_per_second=host_memory_rate(case, options.host_gbs * GIGA)
    )
    found = step_bounds(point.config, case, link)
    places = {"dies": found.dies, "controller": found.controller, "host": found.host}
    values: dict[str, Value] = {}
    for name, place in places.items():
        values |= {f"{name}.{key}": value for key, value in _cells(place, options.parameters)}
    for name in ("controller", "host"):
        other = places[name]
        values[f"{name}.time_ratio"] = (
            found.dies.bound.parameters_per_second / other.bound.parameters_per_second
        )
        values[f"{name}.energy_ratio"] = other.energy.total / found.dies.energy.total
    return values


def _cells(place: PlaceBound, parameters: int) -> Iterator[tuple[str, Value]]:
    rate = place.bound.parameters_per_second
    yield "parameters_per_second", rate
    yield "bound_by", place.bound.part
    yield "step_seconds", parameters / rate
    yield "step_joules", parameters * place.energy.total
    for part, joules in asdict(place.energy).items():
        yield f"{part}_nanojoules", joules * GIGA  # per parameter


STEP_BOUNDS = Workload(
    "bounds of an optimizer step in time, and its energy, by place", _measure, options=StepOptions
)
