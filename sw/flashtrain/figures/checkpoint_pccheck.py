"""The formulas beside the measurements of PCcheck's public artifact: VGG16 on an A100 with a network drive.

The inputs come from its logs, and from other runs than the results.
"""

from flashtrain.checkpoint.systems import CheckFreq, CheckpointSystem, PCcheck, TrainingJob
from flashtrain.figures.parts import PCCHECK, Comparison, Table

PARAMETERS = 138_357_544
STATE = 8 * PARAMETERS
"""Weights and the momentum of SGD."""
ITERATIONS_PER_SECOND = 15.769409833983385
"""Without checkpoints."""
UPDATE_SECONDS = 0.002
"""An assumption; copies are far shorter than an iteration."""
PCIE = 12e9
"""PCIe 3.0 x16; an assumption."""

ALONE_SECONDS = 1.427
"""The write of a checkpoint while no other is under way (log, an interval of 50)."""
SNAPSHOT_SECONDS = 0.68
"""By which CheckFreq's step after a save is longer (log, an interval of 50)."""
CHECKFREQ_TENTH = 2.938627628113705
"""Iterations per second of CheckFreq with an interval of 10, where its file is all that counts."""

MEASURED: tuple[tuple[type[CheckpointSystem], int, float], ...] = (
    (PCcheck, 10, 6.3503108341382175),
    (PCcheck, 25, 14.2728865888275),
    (PCcheck, 50, 15.52581113138962),
    (CheckFreq, 25, 7.042363043171207),
    (CheckFreq, 50, 12.18658951925483),
)
"""Iterations per second by system and interval: figure 8 of the artifact."""

TOLERANCE = 0.1
WHY: dict[tuple[type[CheckpointSystem], int], str] = {
    (PCcheck, 10): "four writes at once reach 0.70 GB/s of the drive in the log, where one alone has 0.78",
}


def comparisons() -> list[Comparison]:
    """Iterations per second of the formulas and of the artifact."""
    return [
        Comparison(
            f"VGG16 with {kind.name}, a checkpoint every {interval} iterations",
            _formula(kind, interval),
            "1/s",
            measured,
            f"{PCCHECK}: {measured:.4g}",
            tolerance=TOLERANCE,
            why=WHY.get((kind, interval), ""),
        )
        for kind, interval, measured in MEASURED
    ]


def table() -> Table:
    """The same, as a share of the rate without checkpoints."""
    rows = (
        (
            kind.name, interval, measured / ITERATIONS_PER_SECOND,
            _formula(kind, interval) / ITERATIONS_PER_SECOND,
        )
        for kind, interval, measured in MEASURED
    )  # fmt: skip
    return Table(
        "VGG16 on PCcheck's machine, share of the rate without checkpoints",
        ("system", "interval", "measured by PCcheck", "formula"),
        tuple(rows),
    )


def _formula(kind: type[CheckpointSystem], interval: int) -> float:
    return interval / _SYSTEMS[kind].cycle_seconds(_JOB, interval)


_JOB = TrainingJob(STATE, STATE // 2, 0, 1 / ITERATIONS_PER_SECOND, UPDATE_SECONDS)
_DRIVE = STATE / ALONE_SECONDS
_FILE = STATE / (10 / CHECKFREQ_TENTH - SNAPSHOT_SECONDS)
_SYSTEMS: dict[type[CheckpointSystem], CheckpointSystem] = {
    PCcheck: PCcheck(PCIE, _DRIVE, _DRIVE, 4),
    CheckFreq: CheckFreq(STATE / SNAPSHOT_SECONDS, _FILE, _DRIVE),
}
