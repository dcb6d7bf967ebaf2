"""The benchmarks of `flashtrain bench`, by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from flashtrain.host import Device
from flashtrain.perf.append import append_erased
from flashtrain.perf.checkpoint_pin import checkpoint_pin
from flashtrain.perf.checkpoint_stall import checkpoint_append, checkpoint_copy_out, checkpoint_stall
from flashtrain.perf.codec.bandwidth import CODED_NODE, append_codec, read_codec
from flashtrain.perf.codec.contents import Contents
from flashtrain.perf.commands import (
    command_interval,
    command_time_read,
    command_time_write,
    read_random,
    read_small,
)
from flashtrain.perf.latency import append_latency
from flashtrain.perf.measurement import Measurement, Result
from flashtrain.perf.mixed import IN_FLIGHT, mixed
from flashtrain.perf.model_speed import RANDOM, SEQUENTIAL, SEQUENTIAL_READS
from flashtrain.perf.one_channel import Reads, bus_share
from flashtrain.perf.read import read_sequential
from flashtrain.perf.read_latency import read_latency_p99
from flashtrain.perf.recovery_time import recovery_time
from flashtrain.perf.sdr_chips import append_sdr, read_sdr
from flashtrain.perf.serve import serve_iops, serve_throughput
from flashtrain.perf.speed import simulation_speed
from flashtrain.perf.sram import MemoryBytes, buffer_bytes, metadata_bytes
from flashtrain.perf.sustained import append_sustained, shortened
from flashtrain.perf.training_iteration import training_iteration
from flashtrain.perf.training_overlap import training_overlap
from flashtrain.perf.update import update, update_muon
from flashtrain.perf.update_case import (
    ADAM_W16_S8,
    ADAM_W16_S16,
    ADAM_W16X16_S16,
    ADAM_W32_S16,
    ADAM_W32_S32,
    Case,
)
from flashtrain.perf.update_comparison import update_energy_ratio, update_speedup
from flashtrain.perf.update_lanes import ControllerLanes
from flashtrain.perf.update_places import PCIE_3_X4, PCIE_4_X4, HostLink
from flashtrain.perf.use_recorder import UseRecorder
from flashtrain.perf.wear import wear_spread
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.config import LEAST_PART_BYTES
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE
from flashtrain.training.optimizers import SGD, Adam, Momentum

from . import model_error, model_iteration
from .bench_settings import Settings
from .console import Console
from .info import controller_memories
from .model_speed import ModelSpeed
from .observed_speed import imaged_speed, recorded_speed, waved_speed
from .pcie_speed import ROWS as PCIE_ROWS
from .serve_speed import ServeSpeed
from .torch_speed import CASES as TORCH_CASES
from .torch_speed import TorchSpeed, codec_speed

LONG_QUEUE = 4096

Run = Callable[[Device, bool], Measurement]


class Recorded(Protocol):
    """A benchmark that says when its steady state begins and ends."""

    def __call__(self, device: Device, recorder: UseRecorder, quick: bool) -> Measurement: ...


def _recorded(benchmark: Recorded) -> Run:
    def run(device: Device, quick: bool) -> Measurement:
        from flashtrain.sim.trace.array import DeviceTraceWindow

        recorder = UseRecorder(device, DeviceTraceWindow(device.link))
        measured = benchmark(device, recorder, quick)
        return replace(measured, use=recorder.use)

    return run


def _append_latency(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.trace.milestones import TraceRecorder

    return append_latency(device, TraceRecorder(device.link), quick)


def _mixed(reads: int) -> Run:
    return _recorded(lambda device, recorder, quick: mixed(device, recorder, reads, quick))


def _bus_share(reads: Reads) -> Run:
    return _recorded(lambda device, recorder, quick: bus_share(device, recorder, reads, quick))


def _update(case: Case) -> Run:
    return _recorded(lambda device, recorder, quick: update(device, recorder, case, quick))


def _speedup_host(link: HostLink) -> Run:
    def run(device: Device, quick: bool) -> Measurement:
        from flashtrain.sim.trace.array import ArrayTrace

        return update_speedup(device, ArrayTrace(device.link), ADAM, link, quick)

    return run


def _speedup_controller(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.trace.array import ArrayTrace
    from flashtrain.sim.update_lane.update_lane import update_lanes

    with update_lanes(device.config) as lanes:
        return update_speedup(device, ArrayTrace(device.link), ADAM, ControllerLanes(lanes), quick)


def _energy_ratio(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.trace.array import ArrayTrace

    return update_energy_ratio(device, ArrayTrace(device.link), ADAM, PCIE_3_X4, quick)


def _wear_spread(device: Device, quick: bool) -> Measurement:
    from flashtrain.sim.link.rtl_link import RtlLink

    assert isinstance(device.link, RtlLink)
    return wear_spread(device, device.link.erase_counts, quick)


def _with_parts(config: FmsConfig) -> FmsConfig:
    """With reads of parts of 512 bytes, and pages of four of them at least."""
    page_bytes = max(config.geometry.page_bytes, 4 * LEAST_PART_BYTES)
    geometry = replace(config.geometry, page_bytes=page_bytes)
    return replace(config, name=f"{config.name}_parts", geometry=geometry, part_bytes=LEAST_PART_BYTES)


def _with_fp8(config: FmsConfig) -> FmsConfig:
    """With moments in FP8, and a unit that computes a tile within a program, if one can.

    Its clock is a third of the bus's at least. A unit of `behemoth` then takes a parameter in 6 cycles of the
    bus. A tile of `optimstore` leaves it fewer, so its interval is 1.
    """
    divider = min(config.update_divider, 3)
    config = replace(config, fp8_state=True, update_divider=divider)
    if ADAM_W16_S8.tile(config).parameters * 2 * divider <= config.timing.cycles("tprog"):
        return config
    return replace(config, update_interval=1, update_divider=3)


def _as_it_is(config: FmsConfig) -> FmsConfig:
    return config


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, the length of the queues and the streams that it needs.

    shape: the configuration that it needs in the place of the preset; alone: what it gives depends on what
    else the machine does.
    """

    run: Run
    queue_entries: int = 64
    node: NodeTable = SINGLE_NODE
    shape: Callable[[FmsConfig], FmsConfig] = _as_it_is
    alone: bool = False


@dataclass(frozen=True)
class DesignBenchmark:
    """A benchmark of the design alone: of the controller's memories."""

    judge: Callable[[list[MemoryBytes]], Measurement]
    alone: ClassVar[bool] = False

    def run(self, config: FmsConfig) -> Measurement:
        return self.judge(list(controller_memories(config)))


@dataclass(frozen=True)
class SystemBenchmark:
    """A benchmark that opens its devices itself; `run` receives the name of the row's configuration.

    - must_meet: a missed goal fails the command without `--strict`, too.
    - shrinks: a device is simulated cycle by cycle, so quick rows are on a smaller configuration.
    """

    run: Callable[[str, Settings, Console], Result]
    must_meet: bool = False
    shrinks: bool = False
    alone: ClassVar[bool] = True


def _append_codec(contents: Contents, asked: float = 0.0) -> Benchmark:
    return Benchmark(
        _recorded(lambda device, recorder, quick: append_codec(device, recorder, contents, asked, quick)),
        node=CODED_NODE,
    )


ADAM = Case(Adam())
BENCHMARKS = {
    "append_erased": Benchmark(_recorded(append_erased)),
    "append_sustained": Benchmark(_recorded(append_sustained), shape=shortened),
    "read_sequential": Benchmark(_recorded(read_sequential)),
    "append_codec": _append_codec(Contents.DENSE, 56e9),
    "append_codec_relu": _append_codec(Contents.RELU, 74e9),
    "append_codec_random": _append_codec(Contents.RANDOM),
    "read_codec": Benchmark(_recorded(read_codec), node=CODED_NODE),
    "mixed_1_1": Benchmark(_mixed(reads=1), IN_FLIGHT + 1),
    "mixed_1_3": Benchmark(_mixed(reads=3), IN_FLIGHT + 1),
    "read_latency_p99": Benchmark(_recorded(read_latency_p99)),
    "append_latency": Benchmark(_append_latency),
    "command_interval": Benchmark(command_interval, LONG_QUEUE),
    "command_time_write": Benchmark(_recorded(command_time_write), LONG_QUEUE),
    "command_time_read": Benchmark(_recorded(command_time_read), LONG_QUEUE),
    "read_random": Benchmark(_recorded(read_random), LONG_QUEUE),
    "read_small": Benchmark(_recorded(read_small), LONG_QUEUE, shape=_with_parts),
    "ocowfc_single_page": Benchmark(_bus_share(Reads.SINGLE_PAGE), LONG_QUEUE),
    "ocowfc_cached": Benchmark(_bus_share(Reads.CACHED)),
    "append_sdr": Benchmark(_recorded(append_sdr)),
    "read_sdr": Benchmark(_recorded(read_sdr)),
    "recovery_time": Benchmark(recovery_time, node=UPDATE_NODE),
    "wear_spread": Benchmark(_wear_spread),
    "metadata_bytes": DesignBenchmark(metadata_bytes),
    "buffer_bytes": DesignBenchmark(buffer_bytes),
    "simulation_speed": Benchmark(_recorded(simulation_speed), alone=True),
    "trace_speed": Benchmark(recorded_speed, alone=True),
    "update_adam": Benchmark(_update(ADAM), node=UPDATE_NODE),
    "update_adam_bf16": Benchmark(_update(ADAM_W32_S32), node=UPDATE_NODE),
    "update_adam_w32_s16": Benchmark(_update(ADAM_W32_S16), node=UPDATE_NODE),
    "update_adam_w16_s16": Benchmark(_update(ADAM_W16_S16), node=UPDATE_NODE),
    "update_adam_w16x16_s16": Benchmark(_update(ADAM_W16X16_S16), node=UPDATE_NODE),
    "update_adam_w16_s8": Benchmark(_update(ADAM_W16_S8), node=UPDATE_NODE, shape=_with_fp8),
    "update_momentum": Benchmark(_update(Case(Momentum())), node=UPDATE_NODE),
    "update_sgd": Benchmark(_update(Case(SGD())), node=UPDATE_NODE),
    "update_muon": Benchmark(_recorded(update_muon), node=UPDATE_NODE),
    "update_speedup_host": Benchmark(_speedup_host(PCIE_3_X4), node=UPDATE_NODE),
    "update_speedup_pcie4": Benchmark(_speedup_host(PCIE_4_X4), node=UPDATE_NODE),
    "update_speedup_controller": Benchmark(_speedup_controller, node=UPDATE_NODE),
    "update_energy_ratio": Benchmark(_energy_ratio, node=UPDATE_NODE),
    "training_iteration": Benchmark(_recorded(training_iteration), node=UPDATE_NODE),
    "training_overlap": Benchmark(training_overlap, node=UPDATE_NODE),
    "checkpoint_pin": Benchmark(checkpoint_pin, node=UPDATE_NODE),
    "checkpoint_stall": Benchmark(checkpoint_stall, node=UPDATE_NODE),
    "checkpoint_copy_out": Benchmark(checkpoint_copy_out, node=UPDATE_NODE),
    "checkpoint_append": Benchmark(checkpoint_append, node=UPDATE_NODE),
}

SYSTEM_BENCHMARKS = {
    model_error.NAME: SystemBenchmark(model_error.model_error, must_meet=True),
    model_iteration.NAME: SystemBenchmark(model_iteration.model_iteration),
    **{
        name: SystemBenchmark(ModelSpeed(name, case))
        for name, case in (
            ("model_speed", SEQUENTIAL),
            ("model_speed_read", SEQUENTIAL_READS),
            ("model_speed_random", RANDOM),
        )
    },
    "image_speed": SystemBenchmark(imaged_speed),
    "wave_speed": SystemBenchmark(waved_speed),
    "serve_throughput": SystemBenchmark(ServeSpeed("serve_throughput", serve_throughput)),
    "serve_iops": SystemBenchmark(ServeSpeed("serve_iops", serve_iops)),
    **{row.name: SystemBenchmark(row, shrinks=True) for row in PCIE_ROWS},
    **{case.name: SystemBenchmark(TorchSpeed(case)) for case in TORCH_CASES},
    "offload_speed_codec": SystemBenchmark(codec_speed),
}
"""Those that choose configurations and Links themselves."""

ALL_BENCHMARKS = {**BENCHMARKS, **SYSTEM_BENCHMARKS}
