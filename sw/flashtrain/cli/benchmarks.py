"""The benchmarks of `flashtrain bench`, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.perf.append import append_erased
from flashtrain.perf.commands import command_interval
from flashtrain.perf.latency import append_latency
from flashtrain.perf.measurement import Measurement
from flashtrain.perf.read import read_sequential
from flashtrain.perf.speed import simulation_speed
from flashtrain.perf.update import Case, update
from flashtrain.perf.update_comparison import update_energy_ratio, update_speedup
from flashtrain.perf.update_places import ControllerUnits, HostLink, Place
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import SGD, Adam, Momentum

LONG_QUEUE = 4096


def _append_latency(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.trace_milestones import TraceRecorder

    return append_latency(device, TraceRecorder(device.link), quick)


def _update(case: Case) -> Callable[[Device, bool], Measurement]:
    def run(device: Device, quick: bool) -> Measurement:
        from flashtrain.sim.trace_array import ArrayTrace

        return update(device, ArrayTrace(device.link), case, quick)

    return run


def _speedup(place: Callable[[FmsConfig], Place]) -> Callable[[Device, bool], Measurement]:
    def run(device: Device, quick: bool) -> Measurement:
        from flashtrain.sim.trace_array import ArrayTrace

        return update_speedup(device, ArrayTrace(device.link), ADAM, place(device.config), quick)

    return run


def _energy_ratio(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.trace_array import ArrayTrace

    return update_energy_ratio(device, ArrayTrace(device.link), ADAM, HostLink(), quick)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, the length of the queues and the streams that it needs."""

    run: Callable[[Device, bool], Measurement]
    queue_entries: int = 64
    node: NodeTable = SINGLE_NODE


ADAM = Case(Adam())

BENCHMARKS = {
    "append_erased": Benchmark(append_erased),
    "read_sequential": Benchmark(read_sequential),
    "append_latency": Benchmark(_append_latency),
    "command_interval": Benchmark(command_interval, LONG_QUEUE),
    "simulation_speed": Benchmark(simulation_speed),
    "update_adam": Benchmark(_update(ADAM), node=UPDATE_NODE),
    "update_adam_bf16": Benchmark(
        _update(Case(Adam(), GradientFormat.BF16, CopyFormat.BF16)), node=UPDATE_NODE
    ),
    "update_momentum": Benchmark(_update(Case(Momentum())), node=UPDATE_NODE),
    "update_sgd": Benchmark(_update(Case(SGD())), node=UPDATE_NODE),
    "update_speedup_host": Benchmark(_speedup(lambda _: HostLink()), node=UPDATE_NODE),
    "update_speedup_controller": Benchmark(_speedup(ControllerUnits.of), node=UPDATE_NODE),
    "update_energy_ratio": Benchmark(_energy_ratio, node=UPDATE_NODE),
}
