"""The workload `platform`: an iteration of a workload of Behemoth, as `flashtrain platform run` plays it."""

from collections.abc import Mapping
from dataclasses import dataclass

from flashtrain.platform.nodes import BEHEMOTH_FLOPS, Node, sharing_platform
from flashtrain.platform.report import run_iteration
from flashtrain.platform.workloads import WORKLOADS as ITERATIONS
from flashtrain.platform.workloads import Workload as Iteration
from flashtrain.platform.workloads import workload_sequence
from flashtrain.spec.limits import integer
from flashtrain.sweep.limits import Options, Value, choice, number
from flashtrain.sweep.point import Point, Workload

from .platform import STORAGES

MOST_NODES = 1024


@dataclass(frozen=True)
class PlatformOptions(Options):
    """The iteration and its nodes; see each field's limits, and `flashtrain platform run --help`."""

    iteration: Iteration = choice(ITERATIONS, "gpt 1x1", "workload of Behemoth")
    storage: str = choice({name: name for name in STORAGES}, "fms", "of all nodes")
    nodes: int = integer(1, MOST_NODES, "", "activation nodes that share the FLOP rate", 1)
    weight_nodes: int = integer(1, MOST_NODES, "", "weight nodes", 1)
    phi: float | None = number(0, 1, "", "share of the activations that is stored", None)
    tflops: float = number(1e-3, 1e9, "TFLOP/s", "of all activation nodes", BEHEMOTH_FLOPS / 1e12)
    buffer_gb: float = number(1e-3, 1e6, "GB", "tensor buffer of each node", Node().buffer_bytes / 1e9)


def _measure(point: Point) -> Mapping[str, Value]:
    options = point.options
    assert isinstance(options, PlatformOptions)
    iteration = options.iteration
    if options.phi is not None:
        iteration = iteration.with_phi(options.phi)
    storage = STORAGES[options.storage](point.config)
    platform = sharing_platform(storage, options.nodes, options.tflops * 1e12, options.weight_nodes)
    report = run_iteration(workload_sequence(iteration), platform.with_buffers(options.buffer_gb * 1e9))
    return {
        "seconds": report.seconds,
        "flops_per_second": report.flops_per_second,
        "stall_share": report.stall_share,
    }


PLATFORM = Workload("flashtrain platform run: an iteration of a node", _measure, options=PlatformOptions)
