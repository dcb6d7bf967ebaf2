"""When to take a checkpoint: rules for the interval, and what a failure costs at one.

`overhead_interval` is CheckFreq's rule, `young_seconds` and `daly_seconds` are optima from the failure rate.
`AdaptiveInterval` follows measurements, `PacedSaves` saves by it, and `LostWork` is the report of a day.
"""

from flashtrain.checkpoint.interval.adaptive import AdaptiveInterval
from flashtrain.checkpoint.interval.failures import PREEMPTIONS, FailureTrace, even_failures, poisson_failures
from flashtrain.checkpoint.interval.goodput import goodput, mean_goodput
from flashtrain.checkpoint.interval.lost_work import LostWork, lost_work
from flashtrain.checkpoint.interval.optimum import daly_seconds, optimum_interval, young_seconds
from flashtrain.checkpoint.interval.paced_saves import PacedSaves
from flashtrain.checkpoint.interval.rule import overhead_interval

__all__ = [
    "PREEMPTIONS",
    "AdaptiveInterval",
    "FailureTrace",
    "LostWork",
    "PacedSaves",
    "daly_seconds",
    "even_failures",
    "goodput",
    "lost_work",
    "mean_goodput",
    "optimum_interval",
    "overhead_interval",
    "poisson_failures",
    "young_seconds",
]
