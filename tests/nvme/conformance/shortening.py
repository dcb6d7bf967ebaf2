"""Fewer commands with the same difference: for whoever looks for its cause."""

from collections.abc import Callable

from .trial import Trial

Fails = Callable[[list[Trial]], bool]
_MOST_SINGLE = 40
"""Commands up to which each is tried without."""


def shortened(trials: list[Trial], fails: Fails) -> list[Trial]:
    """The last commands of `trials` that still fail on new devices, with the superfluous left out.

    All of them, if they do not fail: the cause is in front of them.
    """
    length = 1
    while length < len(trials) and not fails(trials[-length:]):
        length *= 2
    kept = trials[-length:]
    if not fails(kept):
        return trials
    part = len(kept) // 2
    while part and (part > 1 or len(kept) <= _MOST_SINGLE):
        place = 0
        while place + part < len(kept):
            shorter = kept[:place] + kept[place + part :]
            if fails(shorter):
                kept = shorter
            else:
                place += part
        part //= 2
    return kept
