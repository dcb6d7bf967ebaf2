"""The interval of the least total loss, from the cost of a checkpoint and the time between failures."""

from math import sqrt

from flashtrain.checkpoint.errors import CheckpointPolicyError


def young_seconds(stall_seconds: float, seconds_between_failures: float) -> float:
    """Work between checkpoints by Young (1974): the first-order optimum."""
    _require(stall_seconds, seconds_between_failures)
    return sqrt(2 * stall_seconds * seconds_between_failures)


def daly_seconds(stall_seconds: float, seconds_between_failures: float) -> float:
    """Work between checkpoints by Daly (2006): the higher-order estimate for exponential failures."""
    _require(stall_seconds, seconds_between_failures)
    if stall_seconds >= 2 * seconds_between_failures:
        return seconds_between_failures
    ratio = stall_seconds / (2 * seconds_between_failures)
    factor = 1 + sqrt(ratio) / 3 + ratio / 9
    return young_seconds(stall_seconds, seconds_between_failures) * factor - stall_seconds


def optimum_interval(work_seconds: float, iteration_seconds: float) -> int:
    """The optimum in whole iterations, at least one."""
    return max(1, round(work_seconds / iteration_seconds))


def _require(stall_seconds: float, seconds_between_failures: float) -> None:
    if stall_seconds < 0 or seconds_between_failures <= 0:
        raise CheckpointPolicyError(
            f"a stall of {stall_seconds:g} s and {seconds_between_failures:g} s between failures;"
            " expected durations"
        )
