"""Where the time of a measurement went."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeUse:
    """Shares of the time, by what was done with it or what stood in the way.

    bus: of all channels' buses, together 1. array: of all dies' arrays, together 1. stalls: of the centre's
    pipelines; they overlap each other.
    """

    bus: dict[str, float]
    array: dict[str, float]
    stalls: dict[str, float]
