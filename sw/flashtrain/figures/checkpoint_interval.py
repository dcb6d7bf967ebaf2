"""Intervals between checkpoints, the work that failures cost, and goodput, by system."""

from collections.abc import Mapping

from flashtrain.checkpoint.interval import (
    PREEMPTIONS,
    FailureTrace,
    daly_seconds,
    even_failures,
    goodput,
    lost_work,
    mean_goodput,
    optimum_interval,
    poisson_failures,
)
from flashtrain.checkpoint.interval.failures import DAY, PUBLISHED_FAILURES
from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import (
    ByteCheckpoint,
    Checkmate,
    CheckpointSystem,
    GoCkpt,
    PCcheck,
    PinAndCopy,
    PinState,
    TrainingJob,
)
from flashtrain.figures.checkpoint_pccheck import comparisons as pccheck_comparisons
from flashtrain.figures.checkpoint_pccheck import table as pccheck_table
from flashtrain.figures.checkpoint_platform import OF_DRIVES, RATES, SYSTEMS, TRAINING, Machine
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import Assumption, Chart, Comparison, Content, Series, Table, Values

MODEL = "bert-large"
BOUNDS = (0.035, 0.03)
"""Overheads: CheckFreq's, and PCcheck's."""
DRIVES = (520.0, 3000.0, 7000.0, 28_800.0)
"""MB/s written: SATA, NVMe on PCIe 3.0 x4 and 4.0 x4, and the link of the FMS."""
HOUR = 3600.0
LONGEST, SHOWN = 100_000, 500
"""Iterations, up to which the best interval is computed, and up to which the chart shows goodput."""
RANDOM_REPEATS = 100
"""Times the observation: so long are failures at random, lest the seed matter."""

FAILURES = (
    Assumption(
        "failures", PUBLISHED_FAILURES, 10, PUBLISHED_FAILURES, "",
        "of a preemptible machine: PCcheck's count; 10 without what it counts of GPUs that come",
    ),
    Assumption("window_s", PREEMPTIONS.seconds, 6741, 86_400, "s", "in which they come: the same trace"),
    Assumption("seed", 1, 1, 5, "", "of failures at random"),
)  # fmt: skip


class CheckpointInterval(PublishedFigure):
    name = "checkpoint-interval"
    title = "Intervals between checkpoints, lost work and goodput"
    headline_name = f"goodput of pins that are copied over PCcheck's, {MODEL}, each at its best interval"
    drives = OF_DRIVES
    assumptions = (*FAILURES, *RATES, *TRAINING, *SYSTEMS)

    def headline(self, values: Values) -> float:
        machine = Machine(values)
        job, rate = machine.measured_job(MODEL), _rate(values)
        best = {kind: _best(machine.system(kind), job, rate) for kind in (PinAndCopy, PCcheck)}
        return best[PinAndCopy][1] / best[PCcheck][1]

    def content(self, values: Values) -> Content:
        machine, rate = Machine(values), _rate(values)
        job = machine.measured_job(MODEL)
        least = {
            system.name: {
                model: system.least_interval(machine.measured_job(model), BOUNDS[-1]) for model in MODELS
            }
            for system in machine.systems
        }
        days = {
            system.name: lost_work(system, job, least[system.name][MODEL], rate * DAY)
            for system in machine.systems
        }
        best = {system.name: _best(system, job, rate) for system in machine.systems}
        lost = {
            "failures": tuple(day.failure_seconds_per_day / HOUR for day in days.values()),
            "stalls": tuple(day.stall_seconds_per_day / HOUR for day in days.values()),
        }
        return Content(
            comparisons=(
                *pccheck_comparisons(),
                *_ours(least, best),
            ),
            charts=(
                Chart(
                    f"Least interval with an overhead of {BOUNDS[-1]:.1%} at most",
                    "iterations",
                    tuple(Series(name, (), tuple(map(float, each.values()))) for name, each in least.items()),
                    categories=tuple(MODELS),
                    log_y=True,
                ),
                _over_interval(machine, job, rate),
                Chart(
                    f"Lost in a day at that interval, {MODEL}",
                    "hours",
                    tuple(Series(cause, (), hours) for cause, hours in lost.items()),
                    categories=tuple(days),
                ),
            ),
            tables=(
                _intervals(machine, job, rate),
                _failure(machine, job, rate),
                _goodputs(machine, job, values, best),
                Table(
                    f"Least interval in iterations with an overhead of {BOUNDS[-1]:.1%} at most",
                    ("model", *least),
                    tuple((model, *(each[model] for each in least.values())) for model in MODELS),
                ),
                _over_drive(values),
                pccheck_table(),
            ),
            notes=(
                "The trace of preemptible machines is PCcheck's public one. Its count of 51 failures includes"
                " 14 for the first sample and 12 for GPUs that come. At ten times four GPUs or more go.",
                "The failures here are as many as that count, evenly spaced or at random. Two columns of"
                " goodput have the ten times instead.",
                "A pin needs the device after a failure, as a file needs its drive. A copied pin does not.",
                "Checkmate has a checkpoint at every iteration, whatever the interval. Its shadow takes"
                " machines of its own, which no column counts.",
                "Restarts of processes and machines take no time here, as in PCcheck's formula.",
                "Daly's optimum takes the stall as the cost of a checkpoint. Where the stall depends on the"
                " interval, it is that of a long one.",
            ),
        )  # fmt: skip


def _rate(values: Values) -> float:
    """Failures a second."""
    return values["failures"] / values["window_s"]


def _best(system: CheckpointSystem, job: TrainingJob, rate: float) -> tuple[int, float]:
    """The interval of the most goodput, and the goodput; steps of 5 %."""
    found = {interval: mean_goodput(system, job, interval, rate) for interval in _steps()}
    best = max(found, key=found.__getitem__)
    return best, found[best]


def _steps() -> list[int]:
    steps, value = [], 1.0
    while value <= LONGEST:
        if not steps or round(value) > steps[-1]:
            steps.append(round(value))
        value *= 1.05
    return steps


def _ours(least: Mapping[str, Mapping[str, int]], best: Mapping[str, tuple[int, float]]) -> list[Comparison]:
    pins = max(least[PinState.name].values())
    copies = least[PinAndCopy.name]
    slowest = max(copies, key=copies.__getitem__)
    return [
        Comparison(f"least interval of pins at {BOUNDS[-1]:.1%}, largest of nine", pins, "iterations"),
        Comparison(
            f"the same of pins that are copied, largest of nine ({slowest})", copies[slowest], "iterations"
        ),
        *(
            Comparison(f"goodput of {what}, {MODEL}, at its best interval", best[kind.name][1], "")
            for what, kind in (
                ("pins", PinState),
                ("pins that are copied", PinAndCopy),
                *((kind.name, kind) for kind in (PCcheck, ByteCheckpoint, GoCkpt, Checkmate)),
            )
        ),
    ]


def _over_interval(machine: Machine, job: TrainingJob, rate: float) -> Chart:
    steps = [step for step in _steps() if step <= SHOWN]
    return Chart(
        f"Goodput over the interval, {MODEL}",
        "share of the time",
        tuple(
            Series(
                system.name,
                tuple(map(float, steps)),
                tuple(mean_goodput(system, job, step, rate) for step in steps),
            )
            for system in machine.systems
        ),
        "iterations between checkpoints",
        log_x=True,
    )


def _intervals(machine: Machine, job: TrainingJob, rate: float) -> Table:
    rows = []
    for system in machine.systems:
        least = [system.least_interval(job, bound) for bound in BOUNDS]
        stall = system.stall_seconds(job, LONGEST)
        optimum = optimum_interval(daly_seconds(stall, 1 / rate), job.iteration_seconds) if rate else LONGEST
        rows.append((
            system.name, system.stall_seconds(job, 1), f"{system.overhead(job, 1):.4%}", *least,
            system.stall_seconds(job, least[-1]), optimum,
        ))  # fmt: skip
    header = (
        "system", "stall at every iteration, s", "of the time",
        *(f"least interval at {b:.1%}" for b in BOUNDS), "stall at the latter, s", "Daly's optimum",
    )  # fmt: skip
    return Table(f"Intervals in iterations, {MODEL}", header, tuple(rows))


def _failure(machine: Machine, job: TrainingJob, rate: float) -> Table:
    rows = []
    for system in machine.systems:
        report = lost_work(system, job, system.least_interval(job, BOUNDS[-1]), rate * DAY)
        rows.append((
            system.name, system.survives, report.repeated_seconds, report.durable_seconds,
            f"{system.load_bytes(job) / 1e9:.3f}", report.load_seconds, report.seconds_per_failure,
            report.failure_seconds_per_day / HOUR, report.stall_seconds_per_day / HOUR,
        ))  # fmt: skip
    header = (
        "system", "survives the loss of a", "repeated, s", "not durable, s", "to load, GB", "load, s",
        "lost per failure, s", "lost in a day, h", "stalled in a day, h",
    )  # fmt: skip
    return Table(f"A failure at the least interval at {BOUNDS[-1]:.1%}, {MODEL}", header, tuple(rows))


def _goodputs(
    machine: Machine, job: TrainingJob, values: Values, best: Mapping[str, tuple[int, float]]
) -> Table:
    rate, seconds = _rate(values), values["window_s"]
    traces: tuple[FailureTrace, ...] = (
        even_failures(round(values["failures"]), seconds),
        poisson_failures(rate, RANDOM_REPEATS * seconds, round(values["seed"])),
        PREEMPTIONS,
    )
    rows = []
    for system in machine.systems:
        least = system.least_interval(job, BOUNDS[-1])
        interval, highest = best[system.name]
        simulated = (goodput(system, job, least, trace) for trace in traces)
        rows.append((
            system.name, least, mean_goodput(system, job, least, rate), *simulated,
            interval, highest, goodput(system, job, interval, traces[-1]),
        ))  # fmt: skip
    header = (
        "system", f"least interval at {BOUNDS[-1]:.1%}", "mean", "evenly spaced",
        f"at random, seed {values['seed']:g}", "ten times of the trace",
        "best interval", "mean there", "trace there",
    )  # fmt: skip
    return Table(f"Goodput as a share of the time, {MODEL}", header, tuple(rows))


def _over_drive(values: Values) -> Table:
    """One file takes all of the drive, and copies go at the rate of the link, as far as the system allows."""
    rows = []
    for rate in DRIVES:
        machine = Machine({
            **values, "ssd_write_mb": rate, "ssd_read_mb": rate, "file_share": 1.0,
            "snapshot_gb": values["pcie_gb"], "stage_gb": values["pcie_gb"],
        })  # fmt: skip
        job = machine.measured_job(MODEL)
        least = (system.least_interval(job, BOUNDS[-1]) for system in machine.systems)
        rows.append((f"{rate:,.0f}", *least))
    names = tuple(system.name for system in Machine(values).systems)
    return Table(
        f"Least interval at {BOUNDS[-1]:.1%} over the drive, {MODEL}; files without serialization",
        ("MB/s", *names),
        tuple(rows),
    )
