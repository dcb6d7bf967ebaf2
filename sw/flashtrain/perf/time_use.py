"""The use of the time of a measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeUse:
    """Shares of the time, by operations and by causes of stalls.

    - `bus`: shares of all channels' buses; their sum is 1.
    - `array`: shares of all dies' arrays; their sum is 1.
    - `stalls`: stalls of the front end's pipelines, which overlap each other.
    """

    bus: dict[str, float]
    array: dict[str, float]
    stalls: dict[str, float]
