"""CheckFreq's rule: the shortest interval that keeps the overhead below a bound."""

from math import ceil

from flashtrain.checkpoint.errors import CheckpointPolicyError

ROUNDING = 1e-9
"""Relative: a quotient this close above an integer is that integer."""


def overhead_interval(
    iteration_seconds: float, stall_seconds: float, background_seconds: float, bound: float
) -> int:
    """Iterations between checkpoints, from measurements.

    - `stall_seconds`: for which training waits at a checkpoint.
    - `background_seconds`: that a checkpoint is written beside training; the next one begins afterwards.
    - `bound`: on the share of the time that stalls.
    """
    if iteration_seconds <= 0 or min(stall_seconds, background_seconds) < 0:
        raise CheckpointPolicyError(
            f"iterations of {iteration_seconds:g} s with a stall of {stall_seconds:g} s and"
            f" {background_seconds:g} s beside them; expected measured durations"
        )
    if not 0 < bound < 1:
        raise CheckpointPolicyError(f"a bound of {bound:g} on the overhead; expected a share")
    for_stall = stall_seconds * (1 - bound) / bound
    return max(1, ceil(max(for_stall, background_seconds) / iteration_seconds * (1 - ROUNDING)))
