"""Optimizer steps on the dies: parameters per second, beside their bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import Retention
from flashtrain.spec.update import Tile

from .array_work import ArrayKind, ArrayRecorder, ArrayWork, programs_per_cycle
from .energy import Work, energy
from .measurement import Measurement
from .update_bounds import Bound, on_dies
from .update_case import MUON, Case, WorkOf

ASKED = 0.97
ASKED_OF_BUSES = 0.9
"""Of a step that the buses bound, as of a sequential read: commands and waits are part of each operation."""
ROWS_PER_DIE = 24
QUICK_ROWS_PER_DIE = 8
SETTLE = 2
"""Programs of each die at the begin and the end of a step that are not of its steady state."""


@dataclass(frozen=True)
class UpdateRun:
    """One step: `parameters_per_second` in the steady state, `work` of all arrays, `cycles` of the whole."""

    parameters: int
    parameters_per_second: float
    work: tuple[ArrayWork, ...]
    cycles: int

    def count(self, kind: ArrayKind) -> int:
        """Pages of this kind of operation."""
        return sum(item.planes for item in self.work if item.kind is kind)

    def work_as(self, work_of: WorkOf) -> Work:
        """The work of the run, by the counts of its arrays."""
        return work_of(self.parameters, self.count(ArrayKind.PROGRAM), self.count(ArrayKind.SENSE))


def run_step(
    device: Device, recorder: ArrayRecorder, tile: Tile, parameters: int, settle: int,
    step: Callable[[], object],
) -> UpdateRun:  # fmt: skip
    """Do `step`, which updates `parameters`; the first and last `settle` programs of a die do not count."""
    g, begin = device.config.geometry, device.cycles
    recorder.start()
    step()
    cycles = device.cycles - begin
    work = tuple(recorder.stop())
    tiles_per_cycle = programs_per_cycle(work, g.channels * g.dies, settle)
    return UpdateRun(
        parameters, tiles_per_cycle * tile.parameters * device.config.timing.clock_hz, work, cycles
    )


def run_update(device: Device, recorder: ArrayRecorder, case: Case, rows_per_die: int) -> UpdateRun:
    """Store a state, and do one step on it."""
    g, tile = device.config.geometry, case.tile(device.config)
    count = rows_per_die * g.dies * g.channels * tile.parameters
    state = device.optimizer_state([case.group(count)])
    weights = np.random.default_rng(4).normal(0, 0.02, count).astype(np.float32)
    state.initialise([[weights]])
    device.wait()
    gradients, constants = case.gradients(count), case.optimizer.constants(1)
    run = run_step(device, recorder, tile, count, SETTLE, lambda: state.update([[gradients]], [constants]))
    state.commit()
    return run


def update_muon(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Parameters per second that both commands of a step of Muon take, each in its steady state.

    The orthogonalisation on the host, and the read of the momentum before it, are left out.
    """
    rows = QUICK_ROWS_PER_DIE if quick else ROWS_PER_DIE
    runs = [run_update(device, recorder, case, rows) for case in MUON]
    limits = [on_dies(device.config, case.tile(device.config)) for case in MUON]
    rate = 1 / sum(1 / run.parameters_per_second for run in runs)
    bound = 1 / sum(1 / limit.parameters_per_second for limit in limits)
    asked_rate = 1 / sum(1 / (_asked(limit) * limit.parameters_per_second) for limit in limits)
    parts = " and ".join(
        f"{run.parameters_per_second / limit.parameters_per_second:.1%} of {limit}"
        for run, limit in zip(runs, limits, strict=True)
    )
    return Measurement(
        value=rate / 1e6,
        unit="M/s",
        bound=bound / 1e6,
        cycles=sum(run.cycles for run in runs),
        asked=f"{asked_rate / bound:.0%} of the bound",
        met=rate >= asked_rate,
        note=f"both commands; momentum and weights: {parts}; {_cost(device.config, MUON, runs)}",
    )


def _asked(limit: Bound) -> float:
    """The share of a limit that is asked for."""
    return ASKED_OF_BUSES if limit.part == "buses" else ASKED


def update(device: Device, recorder: ArrayRecorder, case: Case, quick: bool = False) -> Measurement:
    """Parameters updated per second on the dies, in the steady state of a step."""
    run = run_update(device, recorder, case, QUICK_ROWS_PER_DIE if quick else ROWS_PER_DIE)
    limit = on_dies(device.config, case.tile(device.config))
    asked = _asked(limit)
    whole = run.parameters / (run.cycles / device.config.timing.clock_hz)
    return Measurement(
        value=run.parameters_per_second / 1e6,
        unit="M/s",
        bound=limit.parameters_per_second / 1e6,
        cycles=run.cycles,
        asked=f"{asked:.0%} of the bound",
        met=run.parameters_per_second >= asked * limit.parameters_per_second,
        note=f"the {limit.part} bound it; {run.parameters:,} parameters in {run.cycles:,} cycles, begin and"
        f" end of the step included: {whole / limit.parameters_per_second:.1%};"
        f" {_cost(device.config, [case], [run])}",
    )


def _cost(config: FmsConfig, cases: Sequence[Case], runs: Sequence[UpdateRun]) -> str:
    """Energy of an update of a parameter, and how many of them a device lives for, by the counts of the runs.

    Each run is one of the commands of a step. A device lives until each block has had the P/E cycles of the
    class of retention that state has.
    """
    joules = sum(
        energy(config, run.work_as(case.work_on_dies)).total / run.parameters
        for case, run in zip(cases, runs, strict=True)
    )
    g = config.geometry
    programmed = sum(run.count(ArrayKind.PROGRAM) * g.page_bytes / run.parameters for run in runs)
    cycles = Retention.DAYS.endurance
    updates = g.capacity_bytes * cycles / programmed
    return (
        f"{joules * 1e9:.3f} nJ and {programmed:.2f} programmed bytes per parameter; {cycles:,} cycles of all"
        f" blocks are {updates:.2e} updates"
    )
