"""What a device must answer to a command, read off the contract's text and from nothing else.

Written from docs/reference/contract.md and docs/design.md; no line of the functional model or of the RTL was
looked at for it. It shares with them the places of fields and the numbers of statuses (`flashtrain.spec`),
and the arithmetic of an optimizer step (`flashtrain.numerics`, which has oracles of its own).
"""

from .checks import Surroundings
from .footprint import Footprint, footprint
from .oracle import Answer, Oracle
from .state import DeviceState, StreamRights, StreamState, ZoneEntry
from .transfers import Memory, Written

__all__ = [
    "Answer", "DeviceState", "Footprint", "Memory", "Oracle", "StreamRights", "StreamState", "Surroundings",
    "Written", "ZoneEntry", "footprint",
]  # fmt: skip
