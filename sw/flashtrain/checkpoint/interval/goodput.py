"""The share of the time that ends as kept progress of training, when failures strike."""

from math import floor

from flashtrain.checkpoint.interval.failures import FailureTrace
from flashtrain.checkpoint.systems import CheckpointSystem, TrainingJob


def goodput(system: CheckpointSystem, job: TrainingJob, interval: int, trace: FailureTrace) -> float:
    """Kept iterations in the observed time, over those without failures and checkpoints.

    A run begins with the load of the newest checkpoint that survives; the first one begins without. A failure
    keeps the work up to the newest checkpoint that survives it, the end of the observation keeps all.
    """
    spacing = system.spacing(job, interval)
    work = spacing * job.iteration_seconds
    cycle = work * system.cycle_seconds(job, interval) / (interval * job.iteration_seconds)
    durable, load = system.durable_seconds(job, interval), system.load_seconds(job)
    kept = 0.0
    runs = trace.runs
    for number, seconds in enumerate(runs):
        training = seconds - (load if number else 0.0)
        if number < len(runs) - 1:
            kept += work * max(0, floor((training - durable) / cycle))
        else:
            kept += work * max(0.0, training / cycle)
    return kept / trace.seconds


def mean_goodput(system: CheckpointSystem, job: TrainingJob, interval: int, per_second: float) -> float:
    """PCcheck's formula: the time that failures leave, at the throughput with checkpoints; at least 0."""
    left = 1 - per_second * system.lost_seconds(job, interval)
    return max(0.0, left) * (1 - system.overhead(job, interval))
