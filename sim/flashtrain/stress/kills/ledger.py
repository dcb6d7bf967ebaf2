"""A ledger: what a part of the device has acknowledged, and the judge of it in the next process."""

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from flashtrain.host import Device

Note = Callable[[Any], None]
"""Takes an event, which it reports to the parent and gives to the ledger's `note`."""


class Ledger(Protocol):
    """One part of the work on a device, with a record of what was acknowledged: streams, state, a catalogue.

    Parent and child each have a copy. The child changes both by events: plain values that can be pickled.
    """

    def note(self, event: Any) -> None:
        """Enter an event."""
        ...

    def check(self, device: Device, note: Note) -> int:
        """Compare everything that was acknowledged with a recovered device; how many things.

        :class:`Lost` for what is missing or wrong. Events settle what was under way.
        """
        ...

    def act(self, device: Device, random: Random, note: Note) -> None:
        """Do something: an event before it, and one when the device has acknowledged it."""
        ...


LedgerMaker = Callable[[int], Ledger]
"""Makes the ledger of a seed."""
