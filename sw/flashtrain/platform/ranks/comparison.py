"""The model of a small job beside the same job as it ran: commands, collectives, simulated time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from flashtrain.platform.fms import FmsModel
from flashtrain.platform.ranks.job import RankJob
from flashtrain.platform.ranks.link import RankLink
from flashtrain.platform.ranks.plan import BARRIER_BYTES, STATISTICS_BYTES, RankChoices, Weights
from flashtrain.platform.ranks.report import run_ranks
from flashtrain.platform.ranks.traffic import (
    APPEND,
    CONSTANTS,
    READ,
    RECORD,
    STATISTICS,
    UPDATE,
    WEIGHTS,
    device_traffic,
)
from flashtrain.platform.storage import Kind
from flashtrain.platform.tasks import Part
from flashtrain.spec import FmsConfig, Opcode
from flashtrain.spec.streams import JOURNAL

INSTANT, INSTANT_FLOPS = RankLink(1e30, 0), 1e30
"""Link and core for the simulated time of a device, in which collectives and operations take none."""

Counts = Mapping[str, tuple[int, int]]
"""Calls or commands, and bytes or blocks, by name."""


@dataclass(frozen=True)
class CountRow:
    """Commands and blocks of a device, or calls and bytes of a collective: by the model, and in the run."""

    rank: int
    name: str
    model: tuple[int, int]
    run: tuple[int, int]


@dataclass(frozen=True)
class TimeRow:
    """Simulated seconds of a step: by the model, and in the run."""

    rank: int
    name: str
    model: float
    run: float

    @property
    def error(self) -> float:
        """The distance of the model from the run, as a share of the latter."""
        return (self.model - self.run) / self.run


@dataclass(frozen=True)
class Comparison:
    """A job by the model, and as it ran. Counts have to be equal; times have an error."""

    job: RankJob
    counts: Sequence[CountRow]
    times: Sequence[TimeRow]

    @property
    def is_equal(self) -> bool:
        return all(row.model == row.run for row in self.counts)

    def document(self) -> dict[str, Any]:
        return {
            "network": self.job.name,
            "ranks": self.job.ranks,
            "equal": self.is_equal,
            "counts": [vars(row) for row in self.counts],
            "times": [{**vars(row), "error": row.error} for row in self.times],
        }

    def text(self) -> str:
        """Two tables, of which the second one is there if the device has time."""
        heads = f"{'commands':>9} {'in the run':>10} {'blocks, bytes':>14} {'in the run':>14}"
        lines = [f"{'rank':<4} {'':<20} {heads}"]
        for row in self.counts:
            (ours, blocks), (theirs, moved) = row.model, row.run
            counts = f"{ours:9,} {theirs:10,} {blocks:14,} {moved:14,}"
            lines.append(
                f"{row.rank:<4} {row.name:<20} {counts}{'' if row.model == row.run else '  differs'}"
            )
        if self.times:
            lines += ["", f"{'rank':<4} {'':<20} {'ms':>9} {'in the run':>10} {'error':>14}"]
        for row in self.times:
            times = f"{1e3 * row.model:9.4f} {1e3 * row.run:10.4f} {row.error:14.1%}"
            lines.append(f"{row.rank:<4} {row.name:<20} {times}")
        return "\n".join(lines)


class Measured(Protocol):
    """The work of a rank in some steps (`flashtrain.torch.ranks.measured_job`)."""

    @property
    def commands(self) -> Mapping[tuple[str, str], tuple[int, int]]: ...

    @property
    def collectives(self) -> Counts: ...

    @property
    def pass_seconds(self) -> float: ...

    @property
    def step_seconds(self) -> float: ...


def compared(job: RankJob, config: FmsConfig, steps: int, measured: Sequence[Measured]) -> Comparison:
    """The model beside what all ranks did in `steps` steps behind the first one.

    Times are compared on Links that have time.
    """
    counts: list[CountRow] = []
    for rank, one in enumerate(measured):
        traffic = device_traffic(job, rank, config, steps=range(1, steps + 1))
        counts += _counts(rank, traffic, named_commands(one.commands))
        counts += _counts(rank, collectives(job, steps), one.collectives)
    times: list[TimeRow] = []
    if any(one.step_seconds for one in measured):
        model = modelled_times(job, config)
        for rank, one in enumerate(measured):
            run = one.pass_seconds / steps, one.step_seconds / steps
            parts = zip(
                ("passes", "optimizer", "iteration"), (*model, sum(model)), (*run, sum(run)), strict=True
            )
            times += [TimeRow(rank, *part) for part in parts]
    return Comparison(job, counts, times)


def _counts(rank: int, model: Counts, run: Counts) -> list[CountRow]:
    """A row for each name of either."""
    names = dict.fromkeys((*model, *run))
    return [CountRow(rank, name, model.get(name, (0, 0)), run.get(name, (0, 0))) for name in names]


def collectives(job: RankJob, steps: int) -> Counts:
    """Calls and bytes of collectives in some steps, by the names of PyTorch's operators."""
    layers, ranks = job.sharded_layers, job.ranks
    of_step = {
        "_allgather_base_": (2 * len(layers), 2 * sum(map(job.gathered_bytes, layers))),
        "_reduce_scatter_base_": (len(layers), sum(map(job.scattered_bytes, layers))),
        "allreduce_": (2, ranks * (STATISTICS_BYTES + BARRIER_BYTES)),
    }
    return {name: (steps * calls, steps * count) for name, (calls, count) in of_step.items()}


def modelled_times(job: RankJob, config: FmsConfig) -> tuple[float, float]:
    """Seconds of a device in the passes with their activations, and in the optimizer's step.

    Core and link take no time. No zone is erased, as in a step that begins behind another in its zones.
    """
    choices = RankChoices(Weights.MEMORY, overlap=False, waits=True)
    report = run_ranks(job, FmsModel(config), INSTANT, INSTANT_FLOPS, choices=choices, erases=False)
    updates = report.timeline.on(f"{Part.STORAGE} {Kind.UPDATE}")
    passed = min(one.start for one in updates)
    return passed, report.seconds - passed


def named_commands(commands: Mapping[tuple[str, str], tuple[int, int]]) -> Counts:
    """Commands by opcode and stream, under the names of `device_traffic`; others under their own."""
    found: dict[str, tuple[int, int]] = {}
    for (opcode, stream), (count, blocks) in commands.items():
        of = stream if stream in ("activations", JOURNAL) else "state"
        name = NAMES.get((Opcode[opcode], of), f"{opcode} of {stream}")
        before = found.get(name, (0, 0))
        found[name] = before[0] + count, before[1] + blocks
    return found


NAMES = {
    (Opcode.ZONE_APPEND, "activations"): APPEND,
    (Opcode.READ, "activations"): READ,
    (Opcode.SET_CONSTANTS, "state"): CONSTANTS,
    (Opcode.UPDATE, "state"): UPDATE,
    (Opcode.GET_STATISTICS, "state"): STATISTICS,
    (Opcode.ZONE_APPEND, JOURNAL): RECORD,
    (Opcode.READ, "state"): WEIGHTS,
}
