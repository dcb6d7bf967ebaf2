"""The rows of PyTorch's clients on the functional Link: their work per second of processor time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from flashtrain.host import Device, FunctionalLink, open_device
from flashtrain.perf.measurement import Cost, Measurement, Result
from flashtrain.spec import FmsConfig, NodeTable, preset
from flashtrain.spec.streams import UPDATE_NODE, Codec

from .bench_settings import Settings
from .console import Console
from .device import memory_bytes

LINK = "functional"
MOST_STEPS = 4.0
"""Steps in memory that a step with its activations in WINDOW32 may take."""


@dataclass(frozen=True)
class Case:
    """A workload of `flashtrain.torch.speed`, which `work` calls with a device and the number of rounds.

    asked: the least millions of units per second.
    """

    name: str
    work: Callable[[ModuleType, Device, int], Any]
    rounds: int
    unit: str
    asked: float


CASES = (
    Case("offload_speed", lambda speed, *what: speed.offload(*what), 40, "MB/s", 1000),
    Case("checkpoint_load_speed", lambda speed, *what: speed.checkpoint_load(*what), 40, "MB/s", 600),
    Case("dataset_speed", lambda speed, *what: speed.dataset(*what, shuffle=False), 20, "MB/s", 600),
    Case("dataset_speed_shuffled", lambda speed, *what: speed.dataset(*what, shuffle=True), 20, "MB/s", 300),
    Case("die_step_speed", lambda speed, *what: speed.die_step(*what), 40, "M/s", 40),
)


@dataclass(frozen=True)
class TorchSpeed:
    """The row of a case."""

    case: Case

    def __call__(self, configuration: str, settings: Settings, console: Console) -> Result:
        case, config = self.case, preset(configuration)
        work, seconds = _measured(case.work, config, UPDATE_NODE, _rounds(case.rounds, settings), console)
        value = work.rate / 1e6
        measured = Measurement(
            value=value,
            unit=case.unit,
            cycles=0,
            asked=f"{case.asked:,.0f}",
            met=value >= case.asked,
            note=f"{work.units:,} units in {work.seconds:.3f} s of processor time; a memory copy of the"
            f" {work.moved:,} bytes that they move takes {work.copy_seconds:.3f} s,"
            f" {work.moved / work.copy_seconds / 1e6:,.0f} MB/s",
        )
        return Result.of(case.name, configuration, LINK, Cost(seconds, work.moved), measured)


def codec_speed(configuration: str, settings: Settings, console: Console) -> Result:
    """`offload_speed_codec`, on the configuration with a codec."""
    config = replace(preset(configuration), codec=True)
    node = UPDATE_NODE.with_codecs(activations=Codec.WINDOW32)
    (plain, offloaded, moved, copied), seconds = _measured(
        lambda speed, *what: speed.offload_codec(*what), config, node, _rounds(20, settings), console
    )
    measured = Measurement(
        value=offloaded / plain,
        unit="times",
        cycles=0,
        asked=f"at most {MOST_STEPS:.0f}",
        met=offloaded <= MOST_STEPS * plain,
        note=f"steps of a small transformer: {plain:.3f} s of processor time in memory, {offloaded:.3f} s"
        f" with activations in {Codec.WINDOW32.name}; a memory copy of the {moved:,} bytes"
        f" that are written and read takes {copied:.3f} s",
    )
    return Result.of("offload_speed_codec", configuration, LINK, Cost(seconds, moved), measured)


def _measured(
    work: Callable[[ModuleType, Device, int], Any],
    config: FmsConfig,
    node: NodeTable,
    rounds: int,
    console: Console,
) -> tuple[Any, float]:
    """The result of a workload on a device of its own, and the seconds of processor time that it took."""
    from flashtrain.torch import speed  # takes seconds to import

    console.step(f"{config.name} with PyTorch")
    with open_device(config, FunctionalLink, node, memory_bytes=memory_bytes(config)) as device:
        started = time.process_time()
        return work(speed, device, rounds), time.process_time() - started


def _rounds(rounds: int, settings: Settings) -> int:
    return max(1, rounds // 10) if settings.quick else rounds
